/** What a cloud says of machines and routes, as writes. */
import { expect, it } from "vitest";
import type { core } from "#api";
import type { Instance } from "./cloud.ts";
import { planNode, UNINITIALIZED } from "./cloud-nodes.ts";
import { routeChanges } from "./pod-routes.ts";

const instance: Instance = {
  providerId: "local://n1",
  zone: "a",
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  isShutDown: false,
};
const node = (more: Partial<core.Node> = {}): core.Node => ({
  metadata: { name: "n1", resourceVersion: "7" },
  ...more,
});

it("a new Node gets its id, its zone and its addresses, and loses the taint last", () => {
  const given = node({
    spec: {
      taints: [
        { key: UNINITIALIZED, effect: "NoSchedule" },
        { key: "x", effect: "NoExecute" },
      ],
    },
  });
  expect(
    planNode(given, instance).steps?.map((writes) => writes.map((write) => "patch" in write && write.patch)),
  ).toEqual([
    [{ status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } }],
    [
      {
        metadata: { resourceVersion: "7", labels: { "topology.kubernetes.io/zone": "a" } },
        spec: { providerID: "local://n1", taints: [{ key: "x", effect: "NoExecute" }] },
      },
    ],
  ]);
});

it("nothing is written where nothing has changed", () => {
  const given = node({
    metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "a" } },
    spec: { providerID: "local://n1" },
    status: { addresses: instance.addresses },
  });
  expect(planNode(given, instance).steps?.flat()).toEqual([]);
});

it("routes follow the ranges of Nodes", () => {
  const nodes = [node({ spec: { podCIDRs: ["10.244.1.0/24", "fd00::/64"] } })];
  const there = [
    { nodeName: "n1", destination: "fd00::/64" },
    { nodeName: "gone", destination: "10.244.9.0/24" },
  ];
  expect(routeChanges(nodes, there)).toEqual({
    missing: [{ nodeName: "n1", destination: "10.244.1.0/24" }],
    stale: [{ nodeName: "gone", destination: "10.244.9.0/24" }],
  });
});
