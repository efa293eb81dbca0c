import { describe, expect, it } from "vitest";
import { admit, namespaceObject, podObject } from "../../testing/index.ts";
import { podNodeSelector } from "./pod-node-selector.ts";

const plugin = podNodeSelector({
  podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: "pool=shared", a: "pool=gold,disk=ssd" },
});
const selecting = (selector: string) =>
  namespaceObject("a", { annotations: { "scheduler.alpha.kubernetes.io/node-selector": selector } });

const rows = [
  { name: "the namespace's own", namespace: selecting("pool=gold"), selector: { pool: "gold" } },
  {
    name: "what the Pod adds",
    namespace: selecting("pool=gold"),
    own: { disk: "ssd" },
    selector: { pool: "gold", disk: "ssd" },
  },
  {
    name: "a contradiction",
    namespace: selecting("pool=gold"),
    own: { pool: "iron" },
    why: "pod node label selector conflicts with its namespace node label selector",
  },
  {
    name: "what the namespace may not have",
    namespace: selecting("pool=iron"),
    why: "pod node label selector labels conflict with its namespace whitelist",
  },
  {
    name: "the default, which this namespace may not have",
    namespace: namespaceObject(),
    why: "pod node label selector labels conflict with its namespace whitelist",
  },
  { name: "the default, elsewhere", namespace: namespaceObject("b"), in: "b", selector: { pool: "shared" } },
];

describe("PodNodeSelector", () => {
  it.each(rows)("$name", async ({ namespace, own, selector, in: where = "a", why = "" }) => {
    const object = podObject(own && { nodeSelector: own });
    const outcome = await admit(plugin, { object, namespace: where, cluster: [namespace] });
    expect(outcome.why).toBe(why);
    if (why === "") expect(outcome.object).toMatchObject({ spec: { nodeSelector: selector } });
  });

  it("refuses selectors that are none", () => {
    expect(() => podNodeSelector({ podNodeSelectorPluginConfig: { a: "x" } })).toThrow("is no list of labels");
  });
});
