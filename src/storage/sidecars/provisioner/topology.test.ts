import { describe, expect, it } from "vitest";
import type { core, storage } from "#api";
import { affinityOf, flattened, type TopologyFacts, topologyRequirement } from "./topology.ts";

const node = (name: string, labels: Record<string, string>): core.Node => ({ metadata: { name, labels } });
const NODES = [
  node("n1", { zone: "a", rack: "1" }),
  node("n2", { zone: "b", rack: "1" }),
  node("n3", { zone: "b", rack: "2" }),
  node("n4", { rack: "9" }),
];
const csiNode = (name: string, topologyKeys: readonly string[]): storage.CSINode => ({
  metadata: { name },
  spec: { drivers: [{ name: "d", nodeID: name, topologyKeys }] },
});
const facts = (more: Partial<TopologyFacts>, keys: readonly string[] = ["zone"]): TopologyFacts => ({
  driverName: "d",
  claimName: "data-0",
  allowed: [],
  nodes: NODES,
  csiNodeOf: (name) => csiNode(name, keys),
  strict: false,
  immediate: true,
  ...more,
});
const zones = (...values: string[]) => [{ matchLabelExpressions: [{ key: "zone", values }] }];
const of = (requirement: ReturnType<typeof topologyRequirement>) =>
  requirement && {
    requisite: requirement.requisite?.map(({ segments }) => segments),
    preferred: requirement.preferred?.map(({ segments }) => segments),
  };
const [A, B] = [{ zone: "a" }, { zone: "b" }];

describe("the topology that is asked for", () => {
  it.each([
    { name: "nothing is known", given: facts({ nodes: [] }), want: undefined },
    {
      // As a node without drivers is stored.
      name: "no node has drivers",
      given: facts({ csiNodeOf: (name) => ({ ...csiNode(name, []), spec: { drivers: null as never } }) }),
      want: undefined,
    },
    { name: "no node, not asked for", given: facts({ immediate: false }), want: undefined },
    {
      name: "no node: all of the cluster, shifted by name",
      given: facts({}),
      want: { requisite: [A, B], shifted: true },
    },
    {
      name: "no node, allowed topologies",
      given: facts({ allowed: zones("b") }),
      want: { requisite: [B], preferred: [B] },
    },
    {
      name: "a selected node is preferred",
      given: facts({ selectedNode: NODES[1] }),
      want: { requisite: [A, B], preferred: [B, A] },
    },
    {
      name: "a strict driver gets the selected node only",
      given: facts({ selectedNode: NODES[1], strict: true }),
      want: { requisite: [B], preferred: [B] },
    },
  ])("$name", ({ given, want }) => {
    const found = of(topologyRequirement(given));
    if (want === undefined) return expect(found).toBeUndefined();
    expect(found?.requisite).toEqual(want.requisite);
    if ("preferred" in want) expect(found?.preferred).toEqual(want.preferred);
    else expect(new Set(found?.preferred)).toEqual(new Set(want.requisite));
  });

  it("spreads the claims of a StatefulSet", () => {
    const first = (claimName: string) => of(topologyRequirement(facts({ claimName })))?.preferred?.[0];
    expect(first("data-web-0")).not.toEqual(first("data-web-1"));
    expect(first("data-web-0")).toEqual(first("data-web-2"));
  });

  it.each([
    {
      name: "no CSINode",
      given: facts({ selectedNode: NODES[0], csiNodeOf: () => undefined }),
      why: "error getting CSINode",
    },
    {
      name: "no driver there",
      given: facts({ selectedNode: NODES[0] }, []),
      why: "no topology key found on CSINode n1",
    },
    { name: "no label", given: facts({ selectedNode: NODES[3] }), why: "does not match topology keys" },
    {
      name: "not allowed",
      given: facts({ selectedNode: NODES[0], strict: true, allowed: zones("b") }),
      why: "is not in allowed topologies: [map[zone:b]]",
    },
    {
      name: "not in requisite",
      given: facts({ selectedNode: NODES[0], allowed: zones("b") }),
      why: "is not in requisite: [map[zone:b]]",
    },
  ])("fails: $name", ({ given, why }) => {
    expect(() => topologyRequirement(given)).toThrow(why);
  });
});

it("allowed topologies are all combinations of their values", () => {
  const matchLabelExpressions = [
    { key: "zone", values: ["a", "b"] },
    { key: "rack", values: ["1", "2"] },
  ];
  expect(flattened([{ matchLabelExpressions }, ...zones("c")])).toEqual([
    { zone: "a", rack: "1" },
    { zone: "a", rack: "2" },
    { zone: "b", rack: "1" },
    { zone: "b", rack: "2" },
    { zone: "c" },
  ]);
});

it("a volume has a term for each topology, with sorted keys", () => {
  const segments = [{ segments: { zone: "a", rack: "1" } }, { segments: {} }];
  expect(affinityOf(segments)?.required?.nodeSelectorTerms).toEqual([
    {
      matchExpressions: [
        { key: "rack", operator: "In", values: ["1"] },
        { key: "zone", operator: "In", values: ["a"] },
      ],
    },
  ]);
  expect(affinityOf([])).toBeUndefined();
});
