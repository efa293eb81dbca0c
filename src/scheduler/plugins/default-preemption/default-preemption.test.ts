/** Who goes, and from which node: the documented order, as tables. */
import { describe, expect, it } from "vitest";
import type { policy } from "#api";
import type { PodInfo } from "../../framework/index.ts";
import { ClusterState, PodInfos, ResourceNames } from "../../snapshot/index.ts";
import { node, pod } from "../../testing/index.ts";
import { splitByBudgets } from "./budgets.ts";
import { pickCandidate } from "./pick-candidate.ts";
import { byImportance, type Candidate, candidateOf } from "./victims.ts";

const infos = new PodInfos(new ResourceNames());
const NOW = Date.UTC(2030, 0, 2);
const state = new ClusterState(new ResourceNames());
for (const name of ["a", "b"]) state.setNode(node(name));

function victim(name: string, priority: number, startTime?: string): PodInfo {
  const status = { phase: "Running" as const, ...(startTime !== undefined && { startTime }) };
  return infos.of(pod(name, { on: "n", labels: { app: name.charAt(0) }, spec: { priority }, status }));
}

function candidate(name: string, violations: number, ...victims: PodInfo[]): Candidate {
  const found = state.nodeNamed(name);
  if (found === undefined) throw new Error(`there is no node ${name}`);
  return candidateOf(found, victims.toSorted(byImportance(NOW)), violations);
}

const early = "2030-01-01T00:00:00Z";
const late = "2030-01-01T12:00:00Z";

describe("the node that loses least", () => {
  it.each([
    [
      "fewer violated budgets",
      candidate("a", 1, victim("x", 0)),
      candidate("b", 0, victim("y", 9), victim("z", 9)),
      "b",
    ],
    [
      "a less important first victim",
      candidate("a", 0, victim("x", 5)),
      candidate("b", 0, victim("y", 4), victim("z", 4)),
      "b",
    ],
    [
      "a smaller sum of priorities",
      candidate("a", 0, victim("x", 5), victim("w", 4)),
      candidate("b", 0, victim("y", 5), victim("z", 3)),
      "b",
    ],
    [
      "fewer victims, negative priorities or not",
      candidate("a", 0, victim("x", -5), victim("w", -5)),
      candidate("b", 0, victim("y", -5)),
      "b",
    ],
    [
      "victims that started later",
      candidate("a", 0, victim("x", 1, early)),
      candidate("b", 0, victim("y", 1, late)),
      "b",
    ],
    ["the first of equals", candidate("a", 0, victim("x", 1, early)), candidate("b", 0, victim("y", 1, early)), "a"],
  ])("%s", (_name, first, second, want) => {
    expect(pickCandidate([first, second], NOW)?.node.name).toBe(want);
  });

  it("is none where there is none", () => {
    expect(pickCandidate([], NOW)).toBeUndefined();
  });
});

describe("importance", () => {
  it("is priority, then how long a pod has run", () => {
    const pods = [
      victim("new", 1, late),
      victim("low", 0, early),
      victim("old", 1, early),
      victim("top", 2),
      victim("unstarted", 1),
    ];
    expect(pods.toSorted(byImportance(NOW)).map(({ name }) => name)).toEqual(["top", "old", "new", "unstarted", "low"]);
  });
});

describe("budgets", () => {
  const budget = (
    allowed: number,
    more: Partial<policy.PodDisruptionBudgetStatus> = {},
  ): policy.PodDisruptionBudget => ({
    metadata: { name: "b", namespace: "default" },
    spec: { selector: { matchLabels: { app: "w" } } },
    status: { disruptionsAllowed: allowed, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, ...more },
  });
  const pods = [victim("w1", 0), victim("w2", 0), victim("x1", 0)];
  it.each([
    ["none", [], []],
    ["one that allows one", [budget(1)], ["w2"]],
    ["one that allows none", [budget(0)], ["w1", "w2"]],
    [
      "one that has counted one of them already",
      [budget(0, { disruptedPods: { w1: "2030-01-01T00:00:00Z" } })],
      ["w2"],
    ],
    ["one of another namespace", [{ ...budget(0), metadata: { name: "b", namespace: "other" } }], []],
    ["one that selects nothing", [{ ...budget(0), spec: { selector: {} } }], []],
  ])("%s", (_name, budgets, violating) => {
    const split = splitByBudgets(pods, budgets);
    expect(split.violating.map(({ name }) => name)).toEqual(violating);
    expect(split.others).toHaveLength(pods.length - violating.length);
  });
});
