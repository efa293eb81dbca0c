import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { type Action, type Actionable, actionsOf, dryRunOf } from "./actions.ts";
import { revisionsOf, rollBack } from "./rollback.ts";

const now = "2026-01-31T12:00:00Z";
const web = { group: "apps", version: "v1", plural: "deployments", namespace: "a", name: "web" };
const node = { group: "", version: "v1", plural: "nodes", namespace: "", name: "n1" };
const object = (spec: Actionable["spec"] = {}): Actionable => ({ metadata: { name: "web", uid: "u1" }, spec });
const names = (actions: readonly Action[]) => actions.map(({ name }) => name).join(" ");
const plan = (actions: readonly Action[], name: string, input = "", pods: core.Pod[] = []) =>
  actions.find((each) => each.name === name)?.plan(input, { pods, now }) ?? [];

describe("actions", () => {
  it.each([
    [web, "scale restart delete"],
    [{ ...web, plural: "daemonsets" }, "restart delete"],
    [{ ...web, plural: "replicasets" }, "scale delete"],
    [node, "cordon drain delete"],
    [{ ...node, plural: "pods", namespace: "a" }, "debug delete"],
    [{ ...web, group: "example.com" }, "delete"],
  ])("of %j are %s", (place, want) => {
    expect(names(actionsOf(place, object()))).toBe(want);
  });

  it("scales by the scale subresource, to whole numbers only", () => {
    const actions = actionsOf(web, object({ replicas: 2 }));
    expect(plan(actions, "scale", "5")).toMatchObject([
      { method: "PATCH", path: "/apis/apps/v1/namespaces/a/deployments/web/scale", body: { spec: { replicas: 5 } } },
    ]);
    for (const wrong of ["", "-1", "x", "1.5"]) expect(plan(actions, "scale", wrong)).toEqual([]);
    expect(actions[0]?.needs).toEqual([
      { verb: "patch", group: "apps", resource: "deployments", subresource: "scale", namespace: "a", name: "web" },
    ]);
  });

  it("deletes the object that was looked at, and no later one of its name", () => {
    const [step] = plan(actionsOf(web, object()), "delete");
    expect(step).toMatchObject({ method: "DELETE", body: { preconditions: { uid: "u1" } } });
    expect(step && dryRunOf(step)).toMatchObject({ path: step?.path, body: { dryRun: ["All"] } });
  });

  it("uncordons a cordoned node", () => {
    const spec = { unschedulable: true };
    expect(plan(actionsOf(node, object(spec)), "cordon")).toMatchObject([{ body: { spec: { unschedulable: false } } }]);
  });

  it("drains after a cordon, without Pods of DaemonSets, of mirrors, or of other nodes, and names what is lost", () => {
    const pod = (name: string, nodeName: string, metadata: object = {}, volumes: object[] = []) =>
      ({
        metadata: { name, namespace: "a", uid: name, ...metadata },
        spec: { nodeName, volumes, containers: [] },
      }) as core.Pod;
    const owner = (kind: string) => ({ ownerReferences: [{ kind, controller: true, name: "x", uid: "x" }] });
    const steps = plan(actionsOf(node, object()), "drain", "", [
      pod("set", "n1", owner("ReplicaSet"), [{ name: "v", emptyDir: {} }]),
      pod("daemon", "n1", owner("DaemonSet")),
      pod("mirror", "n1", { annotations: { "kubernetes.io/config.mirror": "x" } }),
      pod("alone", "n1"),
      pod("elsewhere", "n2"),
    ]);
    expect(steps.map(({ words }) => words)).toEqual([
      "Mark the node as unschedulable",
      "Evict a/set (its emptyDir is lost)",
      "Evict a/alone (nothing makes it again)",
    ]);
  });
});

describe("rolling back", () => {
  const set = (uid: string, revision: string, image: string) => ({
    metadata: {
      name: image,
      annotations: { "deployment.kubernetes.io/revision": revision },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true }],
    },
    spec: {
      selector: {},
      template: {
        metadata: { labels: { app: "web", "pod-template-hash": image } },
        spec: { containers: [{ name: "c", image }] },
      },
    },
  });
  const sets = [set("u1", "2", "two"), set("u1", "10", "ten"), set("u1", "3", "three"), set("u2", "4", "other")];

  it("goes to an earlier revision, without the hash of its Pods", () => {
    const revisions = revisionsOf("u1", sets);
    expect(revisions.map(({ number }) => number)).toEqual([3, 2]);
    const action = rollBack(web, revisions);
    const [step] = action?.plan("2", { pods: [], now }) ?? [];
    const value = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "two" }] } };
    expect(step?.body).toEqual([{ op: "replace", path: "/spec/template", value }]);
    expect(action?.plan("10", { pods: [], now })).toEqual([]);
  });

  it("needs an earlier revision", () => {
    expect(rollBack(web, revisionsOf("u1", [set("u1", "1", "one")]))).toBeUndefined();
  });
});
