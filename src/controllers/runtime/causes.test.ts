import { describe, expect, it } from "vitest";
import { kinds } from "#api";
import { readCause } from "#flows";
import { Causes, wordsOf } from "./causes.ts";
import type { Write } from "./plan.ts";

const create = (name: string): Write => ({
  verb: "create",
  resource: kinds.Pod,
  object: { metadata: { name } } as Write["object"],
});

describe("why a reconcile ran", () => {
  it("is what has woken its key since the last time", () => {
    const causes = new Causes("replicaset-controller");
    causes.woken("a", 3);
    causes.woken("b", 4);
    causes.woken("a", 5);
    expect([causes.take("a"), causes.take("a"), causes.take("b")]).toEqual([[3, 5], [], [4]]);
  });

  it("travels with what was decided", () => {
    const causes = new Causes("replicaset-controller");
    const steps = [[create("x")], [create("y")]];
    const [first, second] = [1, 2].map(() => readCause(causes.of("default/web", [7], 1000, { steps })));
    expect(first).toMatchObject({
      actor: "replicaset-controller",
      about: "default/web",
      woken: [7],
      startedAt: 1000,
      decided: "create 2 Pods",
    });
    expect(second?.id).not.toBe(first?.id);
  });

  it("is said in a few words", () => {
    const scale: Write = {
      verb: "patch",
      resource: kinds.ReplicaSet,
      object: { metadata: { name: "web" } } as Write["object"],
      patch: {},
    };
    expect(wordsOf([create("a"), create("b"), scale], "default/web")).toBe("create 2 Pods, patch ReplicaSet web");
    expect(wordsOf([], "default/web")).toBe("");
  });

  it("names neither Secrets nor objects of other namespaces", () => {
    const of = (resource: Write["resource"], namespace: string): Write => ({
      verb: "create",
      resource,
      object: { metadata: { name: "x", namespace } } as Write["object"],
    });
    const writes = [of(kinds.Secret, "default"), of(kinds.Pod, "other"), of(kinds.ConfigMap, "default")];
    expect(wordsOf(writes, "default/web")).toBe("create 1 Secret, create 1 Pod, create ConfigMap x");
  });
});
