import { describe, expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { runtimeClass } from "./runtime-class.ts";

const sandbox = {
  kind: "RuntimeClass",
  apiVersion: "node.k8s.io/v1",
  metadata: { name: "sandbox" },
  handler: "s",
  overhead: { podFixed: { cpu: "100m" } },
  scheduling: { nodeSelector: { runtime: "sandbox" }, tolerations: [{ key: "sandbox", operator: "Exists" }] },
};
const plain = { kind: "RuntimeClass", apiVersion: "node.k8s.io/v1", metadata: { name: "plain" }, handler: "p" };
const sandboxed = (spec: object = {}) => podObject({ runtimeClassName: "sandbox", ...spec });

const rows = [
  { name: "no class", object: podObject(), why: "" },
  { name: "a class without anything", object: podObject({ runtimeClassName: "plain" }), why: "" },
  {
    name: "a class that is not there",
    object: podObject({ runtimeClassName: "x" }),
    why: 'pod rejected: RuntimeClass "x" not found',
  },
  { name: "the overhead of its class", object: sandboxed({ overhead: { cpu: "100m" } }), why: "" },
  {
    name: "another overhead",
    object: sandboxed({ overhead: { cpu: "1" } }),
    why: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  },
  {
    name: "an overhead without a class",
    object: podObject({ overhead: { cpu: "1" } }),
    why: "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
  },
  {
    name: "another node",
    object: sandboxed({ nodeSelector: { runtime: "other" } }),
    why: "conflict: runtimeClass.scheduling.nodeSelector[runtime] = sandbox; pod.spec.nodeSelector[runtime] = other",
  },
];

describe("RuntimeClass", () => {
  it.each(rows)("judges a Pod with $name", async ({ object, why }) => {
    expect(await admit(runtimeClass, { object, cluster: [sandbox, plain] })).toMatchObject({ why });
  });

  it("gives a Pod its overhead and a place", async () => {
    const object = sandboxed({ nodeSelector: { zone: "a" }, tolerations: [{ key: "own", operator: "Exists" }] });
    expect((await admit(runtimeClass, { object, cluster: [sandbox] })).object).toMatchObject({
      spec: {
        overhead: { cpu: "100m" },
        nodeSelector: { runtime: "sandbox", zone: "a" },
        tolerations: [{ key: "own" }, { key: "sandbox" }],
      },
    });
  });
});
