/** What a cloud says of machines, as writes. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import type { Instance } from "../cloud.ts";
import { planNotReady, planReady, SHUT_DOWN } from "./plan-lifecycle.ts";
import { planNode, UNINITIALIZED } from "./plan-node.ts";
import { addressesOf, PROVIDED_NODE_IP } from "./provided-node-ip.ts";

const instance: Instance = {
  providerId: "local://n1",
  zone: "a",
  labels: { "example.com/rack": "7" },
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  isShutDown: false,
};
const node = (more: Partial<core.Node> = {}): core.Node => ({
  metadata: { name: "n1", resourceVersion: "7" },
  ...more,
});
const fresh = { key: UNINITIALIZED, value: "true", effect: "NoSchedule" } as const;
const other = { key: "x", effect: "NoExecute" } as const;
const patches = (plan: ReturnType<typeof planReady>) =>
  plan?.steps?.map((writes) => writes.map((write) => ("patch" in write ? write.patch : write.verb)));

const LABELS = {
  "topology.kubernetes.io/zone": "a",
  "failure-domain.beta.kubernetes.io/zone": "a",
  "example.com/rack": "7",
};

describe("a Node and its machine", () => {
  it.each<[string, Partial<core.Node>, Instance, unknown]>([
    [
      "new: addresses, then its id and zone without the taint",
      { spec: { taints: [fresh, other] } },
      instance,
      [
        [{ status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } }],
        [
          {
            metadata: { resourceVersion: "7", labels: LABELS },
            spec: { providerID: "local://n1", taints: [{ key: "x", effect: "NoExecute" }] },
          },
        ],
      ],
    ],
    [
      "new, with an id and labels that are right: the taint alone",
      {
        metadata: { name: "n1", resourceVersion: "7", labels: LABELS },
        spec: { providerID: "own", taints: [fresh] },
        status: { addresses: instance.addresses },
      },
      instance,
      [[], [{ metadata: { resourceVersion: "7" }, spec: { taints: null } }]],
    ],
    [
      "labels of its own stay, but for zones and types",
      {
        metadata: { name: "n1", resourceVersion: "7", labels: { ...LABELS, "example.com/rack": "8" } },
        spec: { providerID: "own", taints: [fresh] },
        status: { addresses: instance.addresses },
      },
      { ...instance, zone: "b" },
      [
        [],
        [
          {
            metadata: {
              resourceVersion: "7",
              labels: { "topology.kubernetes.io/zone": "b", "failure-domain.beta.kubernetes.io/zone": "b" },
            },
            spec: { taints: null },
          },
        ],
      ],
    ],
    ["initialized: nothing to write", { status: { addresses: instance.addresses } }, instance, [[]]],
    [
      "initialized: a new address, and the host name stays",
      {
        status: {
          addresses: [
            { type: "InternalIP", address: "10.0.0.9" },
            { type: "Hostname", address: "n1" },
          ],
        },
      },
      instance,
      [
        [
          {
            status: {
              addresses: [
                { type: "InternalIP", address: "10.0.0.1" },
                { type: "Hostname", address: "n1" },
              ],
            },
          },
        ],
      ],
    ],
    [
      "no address is no reason to forget the known ones",
      { status: { addresses: instance.addresses } },
      { ...instance, addresses: [] },
      [[]],
    ],
  ])("%s", (_, given, machine, want) => expect(patches(planNode(node(given), machine))).toEqual(want));
});

describe("the address that the kubelet was given", () => {
  const cloud = [
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "InternalIP", address: "10.0.0.2" },
    { type: "InternalIP", address: "fd00::2" },
    { type: "ExternalIP", address: "203.0.113.1" },
    { type: "Hostname", address: "n1" },
  ];
  it.each<[string, string | string[]]>([
    ["", ["10.0.0.1", "10.0.0.2", "fd00::2", "203.0.113.1", "n1"]],
    ["10.0.0.2", ["10.0.0.2", "203.0.113.1", "n1"]],
    ["10.0.0.2,fd00:0::2", ["10.0.0.2", "fd00::2", "203.0.113.1", "n1"]],
    ["203.0.113.1", ["203.0.113.1", "10.0.0.1", "10.0.0.2", "fd00::2", "n1"]],
    ["10.0.0.9", "failed to get node address from cloud provider that matches ip: 10.0.0.9"],
    ["here", 'failed to parse node IP "here"'],
  ])("%j", (asked, want) => {
    const given = node({ metadata: { name: "n1", annotations: { [PROVIDED_NODE_IP]: asked } } });
    const get = () => addressesOf(given, cloud).map(({ address }) => address);
    if (typeof want === "string") expect(get).toThrow(want);
    else expect(get()).toEqual(want);
  });
});

describe("a Node that is not Ready", () => {
  const tainted = node({ spec: { taints: [other, { key: SHUT_DOWN, effect: "NoSchedule" }] } });
  const taint = { key: SHUT_DOWN, effect: "NoSchedule", timeAdded: "2030-01-01T00:00:00Z" };
  const patch = (taints: unknown) => [[{ metadata: { resourceVersion: "7" }, spec: { taints } }]];
  it.each<[string, core.Node, Instance | undefined, unknown]>([
    ["without a machine goes", node(), undefined, [["delete"]]],
    ["of a machine that runs stays", node(), instance, undefined],
    ["of a machine that is shut down says so", node(), { ...instance, isShutDown: true }, patch([taint])],
    ["and says it once", tainted, { ...instance, isShutDown: true }, undefined],
  ])("%s", (_, given, machine, want) =>
    expect(patches(planNotReady(given, machine, Date.parse("2030-01-01T00:00:00Z")))).toEqual(want),
  );

  it("loses the taint when it is Ready, and only that", () => {
    expect(patches(planReady(tainted))).toEqual(patch([other]));
    expect(planReady(node())).toBeUndefined();
  });
});
