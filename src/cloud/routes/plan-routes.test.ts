/** Routes follow the Pod ranges of Nodes. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import type { Route } from "../cloud.ts";
import { conditionWrites, routeChanges } from "./plan-routes.ts";

const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];
const node: core.Node = {
  metadata: { name: "n1" },
  spec: { podCIDRs: ["10.244.1.0/24", "fd00::/64"] },
  status: { addresses },
};
const [v4, v6] = ["10.244.1.0/24", "fd00::/64"].map((destination) => ({ nodeName: "n1", destination, addresses }));
const gone = { nodeName: "gone", destination: "10.244.9.0/24" };
const foreign = { nodeName: "gone", destination: "192.168.9.0/24" };
const CIDRS = ["10.244.0.0/16", "fd00::/48"];

describe("routes", () => {
  it.each<[string, readonly unknown[], readonly string[] | undefined, unknown]>([
    ["none is there", [], CIDRS, { missing: [v4, v6], stale: [] }],
    ["all are there", [v4, v6], CIDRS, { missing: [], stale: [] }],
    ["without addresses they are believed", [{ ...v4, addresses: undefined }, v6], CIDRS, { missing: [], stale: [] }],
    ["to an old address", [{ ...v4, addresses: [] }, v6], CIDRS, { missing: [v4], stale: [{ ...v4, addresses: [] }] }],
    ["of a Node that is gone", [v4, v6, gone], CIDRS, { missing: [], stale: [gone] }],
    [
      "that lead nowhere",
      [{ ...v4, blackhole: true }, v6],
      CIDRS,
      { missing: [v4], stale: [{ ...v4, blackhole: true }] },
    ],
    ["of others are left alone", [v4, v6, foreign], CIDRS, { missing: [], stale: [] }],
    ["all are ours without a range", [v4, v6, foreign], undefined, { missing: [], stale: [foreign] }],
  ])("%s", (_, there, cidrs, want) => expect(routeChanges([node], there as readonly Route[], cidrs)).toEqual(want));

  it.each<[string, string | undefined, boolean, string | undefined]>([
    ["new, and routed", undefined, true, "False RouteCreated"],
    ["still routed", "False", true, undefined],
    ["no longer routed", "False", false, "True NoRouteCreated"],
    ["still not routed", "True", false, undefined],
  ])("a Node's condition: %s", (_, known, hasRoutes, want) => {
    const conditions = known === undefined ? [] : [{ type: "NetworkUnavailable", status: known }];
    const [write] = conditionWrites({ ...node, status: { conditions } }, hasRoutes, 0);
    const patch = write?.verb === "patch" ? (write.patch as unknown as { status: core.NodeStatus }) : undefined;
    const [condition] = patch?.status.conditions ?? [];
    expect(condition && `${condition.status} ${condition.reason}`).toBe(want);
  });
});
