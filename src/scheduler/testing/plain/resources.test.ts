import { describe, expect, it } from "vitest";
import { DEFAULT_ARGUMENTS, type ScoringStrategy } from "../../framework/index.ts";
import { node, pod } from "../builders.ts";
import { balancedAllocation } from "./balanced-allocation.ts";
import { nodeResourcesFit, strategyScore } from "./node-resources-fit.ts";
import { requestsOf, scoringRequestsOf } from "./pod-requests.ts";

const args = DEFAULT_ARGUMENTS;
const asks = (requests: Record<string, string>) => ({ name: "c", resources: { requests } });
const init = (requests: Record<string, string>) => ({ ...asks(requests), name: "i" });
const sidecar = (requests: Record<string, string>) => ({ ...asks(requests), name: "s", restartPolicy: "Always" });

describe("what a Pod asks for", () => {
  const cases = [
    { name: "containers add up", spec: { containers: [asks({ cpu: "2" }), asks({ cpu: "1500m" })] }, cpu: 3500n },
    {
      name: "the largest init container, if it is more than they",
      spec: { containers: [asks({ cpu: "1" })], initContainers: [init({ cpu: "3" }), init({ cpu: "2" })] },
      cpu: 3000n,
    },
    {
      name: "sidecars count with the containers, and with the init containers after them",
      spec: {
        containers: [asks({ cpu: "1" })],
        initContainers: [init({ cpu: "3" }), sidecar({ cpu: "2" }), init({ cpu: "4" })],
      },
      cpu: 6000n,
    },
    {
      name: "the Pod's own word stands for its containers, overhead comes on top",
      spec: {
        containers: [asks({ cpu: "1" })],
        resources: { requests: { cpu: "2" } },
        overhead: { cpu: "250m" },
      },
      cpu: 2250n,
    },
  ];
  it.each(cases)("$name", ({ spec, cpu }) => {
    expect(requestsOf(pod("p", { spec })).get("cpu")).toBe(cpu);
  });

  it("counts a container that asks for nothing as 100m and 200Mi, for scores only", () => {
    const lazy = pod("p", { spec: { containers: [asks({}), asks({ cpu: "0" })] } });
    expect(requestsOf(lazy).get("memory")).toBeUndefined();
    expect(scoringRequestsOf(lazy)).toEqual(
      new Map([
        ["cpu", 100n],
        ["memory", 400n * 1024n * 1024n],
      ]),
    );
  });
});

describe("NodeResourcesFit", () => {
  const small = node("a", { allocatable: { cpu: "1", memory: "1Gi", pods: "2", "example.com/gpu": "1" } });
  const busy = [pod("old", { on: "a", requests: { cpu: "600m", "example.com/gpu": "1" } })];
  const cases = [
    { name: "fits exactly", requests: { cpu: "400m" }, want: undefined },
    { name: "cpu", requests: { cpu: "401m" }, want: { reasons: ["Insufficient cpu"], unresolvable: false } },
    {
      name: "more than the node ever had",
      requests: { cpu: "2", memory: "2Gi" },
      want: { reasons: ["Insufficient cpu", "Insufficient memory"], unresolvable: true },
    },
    {
      name: "extended resources",
      requests: { "example.com/gpu": "1" },
      want: { reasons: ["Insufficient example.com/gpu"], unresolvable: false },
    },
    {
      name: "a resource that the node does not have",
      requests: { "example.com/fpga": "1" },
      want: { reasons: ["Insufficient example.com/fpga"], unresolvable: true },
    },
  ];
  it.each(cases)("$name", ({ requests, want }) => {
    const question = { pod: pod("p", { requests }), cluster: { nodes: [small], pods: busy }, args };
    expect(nodeResourcesFit.filter?.(question, small)).toEqual(want);
  });

  it("counts Pods, but not those that have ended", () => {
    const ended = pod("ended", { on: "a", status: { phase: "Succeeded" } });
    const question = { pod: pod("p"), cluster: { nodes: [small], pods: [...busy, ended] }, args };
    expect(nodeResourcesFit.filter?.(question, small)).toBeUndefined();
    const full = { ...question, cluster: { nodes: [small], pods: [...busy, pod("two", { on: "a" })] } };
    expect(nodeResourcesFit.filter?.(full, small)?.reasons).toEqual(["Too many pods"]);
  });

  const figure = (requested: bigint, allocatable: bigint) => ({ requested, allocatable, weight: 1n });
  const line = [
    { utilization: 0, score: 0 },
    { utilization: 100, score: 10 },
  ];
  const ratio: ScoringStrategy = {
    type: "RequestedToCapacityRatio",
    resources: [],
    requestedToCapacityRatio: { shape: line },
  };
  const least: ScoringStrategy = { type: "LeastAllocated", resources: [] };
  const most: ScoringStrategy = { type: "MostAllocated", resources: [] };
  const scores = [
    {
      name: "least, empty nodes of different size",
      strategy: least,
      of: [
        [3000n, 4000n],
        [5000n, 10000n],
      ],
      want: 37,
    },
    {
      name: "least, the larger node",
      strategy: least,
      of: [
        [3000n, 6000n],
        [5000n, 10000n],
      ],
      want: 50,
    },
    {
      name: "least, more than there is",
      strategy: least,
      of: [
        [12000n, 10000n],
        [5000n, 10000n],
      ],
      want: 25,
    },
    {
      name: "most, empty nodes of different size",
      strategy: most,
      of: [
        [3000n, 4000n],
        [5000n, 10000n],
      ],
      want: 62,
    },
    {
      name: "most, more than there is",
      strategy: most,
      of: [
        [12000n, 10000n],
        [5000n, 10000n],
      ],
      want: 75,
    },
    {
      name: "ratio, packing",
      strategy: ratio,
      of: [
        [3000n, 4000n],
        [5000n, 10000n],
      ],
      want: 63,
    },
    {
      name: "ratio, resources that score nothing don't count",
      strategy: ratio,
      of: [
        [0n, 4000n],
        [50n, 100n],
      ],
      want: 50,
    },
    { name: "nothing there to be scored", strategy: least, of: [[1n, 0n]], want: 0 },
  ] satisfies { name: string; strategy: ScoringStrategy; of: [bigint, bigint][]; want: number }[];
  it.each(scores)("scores: $name", ({ strategy, of, want }) => {
    expect(
      strategyScore(
        strategy,
        of.map(([requested, allocatable]) => figure(requested, allocatable)),
      ),
    ).toBe(want);
  });
});

describe("NodeResourcesBalancedAllocation", () => {
  const cases = [
    { name: "nothing changes", there: {}, requests: { cpu: "1", memory: "8Gi" }, want: 75 },
    { name: "an empty node becomes uneven", there: {}, requests: { cpu: "4", memory: "0" }, want: 50 },
    { name: "an uneven node becomes even", there: { cpu: "2" }, requests: { memory: "16Gi" }, want: 87 },
    { name: "asks for nothing", there: { cpu: "2" }, requests: {}, want: undefined },
  ];
  it.each(cases)("$name", ({ there, requests, want }) => {
    const a = node("a");
    const question = {
      pod: pod("p", { requests }),
      cluster: { nodes: [a], pods: [pod("old", { on: "a", requests: there as Record<string, string> })] },
      args,
    };
    expect(balancedAllocation.score?.(question, [a])?.get("a")).toBe(want);
  });
});
