import { describe, expect, it } from "vitest";
import { affinityOf, type Hints, meanDistance, type TopologyPolicy } from "./affinity.ts";
import type { TopologyHint } from "./hints.ts";
import { machineOf } from "./testing/machines.ts";

const hint = (nodes: readonly number[] | undefined, preferred = true): TopologyHint => ({
  affinity: nodes && new Set(nodes),
  preferred,
});
const of = (...hints: TopologyHint[]): Hints => new Map([["cpu", hints]]);
const BOTH = [hint([0]), hint([1]), hint([0, 1], false)];
const SECOND = [hint([1]), hint([0, 1], false)];
const WIDE = [hint([0, 1])];

describe("the affinity of a container", () => {
  it.each<{
    readonly name: string;
    readonly hints: readonly Hints[];
    readonly want: Partial<Record<TopologyPolicy, readonly [nodes: readonly number[] | undefined, admitted: boolean]>>;
  }>([
    {
      name: "nobody cares",
      hints: [new Map()],
      want: {
        none: [undefined, true],
        "best-effort": [[0, 1], true],
        restricted: [[0, 1], true],
        "single-numa-node": [undefined, true],
      },
    },
    {
      name: "two that agree on the second node",
      hints: [of(...BOTH), of(...SECOND)],
      want: { "best-effort": [[1], true], restricted: [[1], true], "single-numa-node": [[1], true] },
    },
    {
      name: "the first of both",
      hints: [of(...BOTH), of(...BOTH)],
      want: { "best-effort": [[0], true], restricted: [[0], true], "single-numa-node": [[0], true] },
    },
    {
      name: "more than a node has",
      hints: [of(...WIDE)],
      want: { "best-effort": [[0, 1], true], restricted: [[0, 1], true], "single-numa-node": [undefined, false] },
    },
    {
      name: "two that have no node in common",
      hints: [of(hint([0]), hint([0, 1], false)), of(...SECOND)],
      want: { "best-effort": [[0], true], restricted: [[0], false], "single-numa-node": [undefined, false] },
    },
    {
      name: "one that nothing can satisfy",
      hints: [of(), of(...BOTH)],
      want: { "best-effort": [[0], true], restricted: [[0], false], "single-numa-node": [undefined, false] },
    },
  ])("$name", ({ hints, want }) => {
    for (const [policy, [nodes, admitted]] of Object.entries(want)) {
      const found = affinityOf(policy as TopologyPolicy, hints, { nodes: [0, 1] });
      const shown = found.hint.affinity && [...found.hint.affinity];
      expect([policy, shown, found.admitted]).toEqual([policy, nodes, admitted]);
    }
  });

  it("of nodes that are as many, those that lie together, if asked for", () => {
    const { nodes } = machineOf({ sockets: 4, coresPerNuma: 1 });
    const hints = [of(hint([0, 3]), hint([1, 2]))];
    const numa = { nodes: [0, 1, 2, 3] };
    expect(affinityOf("best-effort", hints, numa).hint.affinity).toEqual(new Set([1, 2]));
    const far = [of(hint([0, 2]), hint([2, 3]))];
    expect(affinityOf("best-effort", far, numa).hint.affinity).toEqual(new Set([0, 2]));
    const distance = meanDistance(nodes);
    expect(affinityOf("best-effort", far, { ...numa, distance }).hint.affinity).toEqual(new Set([2, 3]));
  });
});
