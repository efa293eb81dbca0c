import { describe, expect, it } from "vitest";
import {
  averageReplicas,
  isWithin,
  type Proposal,
  perPodReplicas,
  sumOf,
  utilizationReplicas,
  valueReplicas,
} from "./replicas.ts";
import { requestsOf } from "./requests.ts";
import { groupPods, readyPods } from "./samples.ts";
import { goSelector } from "./selector-text.ts";
import { AUTOSCALER_DEFAULTS } from "./settings.ts";
import { NOW, podOf, podsOf, samplesOf } from "./testing/pods.ts";
import { tolerancesOf } from "./tolerances.ts";

const TENTH = { up: 0.1, down: 0.1 };
const _ = undefined;

function figures(letters: string, values: readonly (number | undefined)[], resource: string, replicas: number) {
  const pods = podsOf(letters);
  const samples = samplesOf(pods, values);
  const groups = groupPods(pods, samples, resource, AUTOSCALER_DEFAULTS, NOW);
  return { pods, figures: { currentReplicas: replicas, samples, groups, tolerances: TENTH } };
}

describe("utilization of requests of 100m each", () => {
  it.each<[name: string, pods: string, used: (number | undefined)[], target: number, want: string]>([
    ["at the target", "RRR", [50, 50, 50], 50, "3 50% 50m tolerance"],
    ["twice the target", "RRR", [100, 100, 100], 50, "6 100% 100m ratio"],
    ["half of it", "RRRR", [25, 25, 25, 25], 50, "2 25% 25m ratio"],
    ["a third, rounded up", "RRRR", [17, 17, 17, 17], 50, "2 17% 17m ratio"],
    ["idle", "RRR", [0, 0, 0], 50, "0 0% 0m ratio"],
    ["10 % above is tolerated", "RR", [55, 55], 50, "2 55% 55m tolerance"],
    ["12 % above is not", "RR", [56, 56], 50, "3 56% 56m ratio"],
    ["10 % below is tolerated", "RRRR", [45, 45, 45, 45], 50, "4 45% 45m tolerance"],
    ["12 % below is not", "RRRRRRRRRR", Array(10).fill(44), 50, "9 44% 44m ratio"],
    ["below, but rounded up to what is there", "RRRR", [44, 44, 44, 44], 50, "4 44% 44m ratio"],
    ["uneven Pods count by their sum", "RRR", [100, 20, 30], 50, "3 50% 50m tolerance"],
    ["one busy Pod among idle ones", "RRRR", [200, 0, 0, 0], 50, "4 50% 50m tolerance"],
    ["more than requested", "R", [350], 50, "7 350% 350m ratio"],
    ["a target above 100", "RR", [300, 300], 150, "4 300% 300m ratio"],
    ["utilization is cut to whole percents", "RRR", [55, 55, 56], 50, "3 55% 55m tolerance"],
    ["the average is cut too", "RR", [80, 81], 40, "4 80% 80m ratio"],
    ["one Pod without figures holds back a step up", "RRR", [100, 100, _], 50, "4 100% 100m ratio"],
    ["two without figures hold it back more", "RRRR", [100, 100, _, _], 50, "4 100% 100m assumed"],
    ["a small step up disappears", "RRR", [60, 60, _], 50, "3 60% 60m assumed"],
    ["one without figures counts fully before a step down", "RRRR", [10, 10, 10, _], 50, "3 10% 10m ratio"],
    ["so that nothing may happen", "RRR", [30, 30, _], 50, "3 30% 30m assumed"],
    ["or the direction would turn", "RR", [10, _], 50, "2 10% 10m assumed"],
    ["with a target above 100 it counts as the target", "RRRRRR", [60, 60, 60, 60, _, _], 150, "4 60% 60m ratio"],
    ["at the target exactly, nothing is assumed", "RRR", [50, 50, _], 50, "3 50% 50m assumed"],
    ["within the tolerance, with a Pod missing, up", "RRR", [52, 52, _], 50, "3 52% 52m assumed"],
    ["a pending Pod is idle before a step up", "RRP", [100, 100, _], 50, "4 100% 100m ratio"],
    ["a pending Pod does not matter for a step down", "RRP", [20, 20, _], 50, "1 20% 20m ratio"],
    ["a pending Pod does not matter within the tolerance", "RRP", [50, 50, _], 50, "3 50% 50m tolerance"],
    ["a slightly busy Pod with a pending one", "RP", [60, _], 50, "2 60% 60m assumed"],
    ["a Pod that never was ready is idle", "RRU", [100, 100, 500], 50, "4 100% 100m ratio"],
    ["its usage does not count for a step down either", "RRU", [20, 20, 500], 50, "1 20% 20m ratio"],
    ["a Pod that was ready before counts", "RRL", [100, 100, 100], 50, "6 100% 100m ratio"],
    ["a young Pod that was measured since it is ready counts", "RRN", [100, 100, 100], 50, "6 100% 100m ratio"],
    ["one that was not is idle", "RRS", [100, 100, 900], 50, "4 100% 100m ratio"],
    ["one without a condition is idle", "RRB", [100, 100, 900], 50, "4 100% 100m ratio"],
    ["a failed Pod does not count", "RRF", [100, 100, 900], 50, "4 100% 100m ratio"],
    ["a Pod that ends does not count", "RRD", [100, 100, 900], 50, "4 100% 100m ratio"],
    ["pending and missing together", "RRPRR", [200, 200, _, _, _], 50, "8 200% 200m ratio"],
    ["pending and missing before a step down", "RRRRPR", [10, 10, 10, 10, _, _], 50, "3 10% 10m ratio"],
    ["nobody is measured", "RR", [_, _], 50, "did not receive metrics for targeted pods (pods might be unready)"],
    ["only unready Pods are", "UP", [5, 5], 50, "did not receive metrics for targeted pods (pods might be unready)"],
  ])("%s", (_name, letters, used, target, want) => {
    const { pods, figures: given } = figures(letters, used, "cpu", letters.length);
    const requests = requestsOf(pods, "cpu", "", true);
    if (!requests.ok) throw new Error(requests.error);
    const got = utilizationReplicas(given, requests.value, target);
    const { ok } = got;
    expect(ok ? `${text(got.value)}` : got.error).toBe(want);
  });

  const text = (value: { replicas: number; utilization?: number | undefined; milli: bigint; rule: string }) =>
    `${value.replicas} ${value.utilization}% ${value.milli}m ${value.rule}`;

  it("memory counts from the first moment", () => {
    const { pods, figures: given } = figures("RRU", [100, 100, 400], "memory", 3);
    const requests = requestsOf(pods, "memory", "", true);
    expect(requests.ok && utilizationReplicas(given, requests.value, 50)).toMatchObject({
      value: { replicas: 12, utilization: 200 },
    });
  });

  it("a request of nothing has no utilization", () => {
    const { figures: given } = figures("R", [5], "cpu", 1);
    expect(utilizationReplicas(given, new Map([["r0", 0n]]), 50)).toEqual({
      ok: false,
      error: "no metrics returned matched known pods",
    });
  });

  it("memory of many large Pods stays exact", () => {
    const pods = podsOf("R".repeat(200), "64Gi");
    const used = 2n ** 36n * 1000n;
    const samples = new Map(
      pods.map(({ metadata }) => [metadata.name ?? "", { milli: used, atMs: NOW, windowMs: 15_000 }]),
    );
    const groups = groupPods(pods, samples, "memory", AUTOSCALER_DEFAULTS, NOW);
    const requests = requestsOf(pods, "memory", "", true);
    if (!requests.ok) throw new Error(requests.error);
    const got = utilizationReplicas({ currentReplicas: 200, samples, groups, tolerances: TENTH }, requests.value, 50);
    expect(got).toMatchObject({ value: { replicas: 400, utilization: 100, milli: used } });
  });
});

describe("an average for each Pod, with a target of 100", () => {
  it.each<[name: string, pods: string, used: (number | undefined)[], want: string]>([
    ["at the target", "RRR", [100, 100, 100], "3 100 tolerance"],
    ["twice", "RRR", [200, 200, 200], "6 200 ratio"],
    ["half", "RRRR", [50, 50, 50, 50], "2 50 ratio"],
    ["nothing", "RR", [0, 0], "0 0 ratio"],
    ["10 % more", "RR", [110, 110], "2 110 tolerance"],
    ["11 % more", "RR", [111, 111], "3 111 ratio"],
    ["10 % less", "RR", [90, 90], "2 90 tolerance"],
    ["the average is cut", "RRR", [111, 110, 110], "3 110 tolerance"],
    ["missing before a step up: idle", "RRR", [300, 300, _], "6 300 ratio"],
    ["missing before a step up that disappears", "RRR", [150, 150, _], "3 150 assumed"],
    ["missing before a step down: at the target", "RRRR", [10, 10, 10, _], "2 10 ratio"],
    ["missing before a step down that disappears", "RRRR", [80, 95, _, _], "4 87 assumed"],
    ["pending before a step up: idle", "RRP", [300, 300, _], "6 300 ratio"],
    ["pending before a step down", "RRP", [20, 20, _], "1 20 ratio"],
    ["unready Pods count: only CPU waits for readiness", "RRU", [200, 200, 200], "6 200 ratio"],
    ["failed and ended Pods do not count", "RRFD", [200, 200, 900, 900], "4 200 ratio"],
    ["more missing than measured", "RRRRRR", [700, _, _, _, _, _], "7 700 ratio"],
    ["nobody", "RR", [_, _], "did not receive metrics for targeted pods (pods might be unready)"],
  ])("%s", (_name, letters, used, want) => {
    const { figures: given } = figures(letters, used, "", letters.length);
    const got = averageReplicas(given, 100n);
    expect(got.ok ? `${got.value.replicas} ${got.value.milli} ${got.value.rule}` : got.error).toBe(want);
  });

  it("more Pods than replicas do not turn the direction", () => {
    // Left over from a rollout: 6 Pods for 2 replicas.
    const { figures: given } = figures("RRRRRR", [50, 50, 50, 50, 50, _], "", 2);
    expect(averageReplicas(given, 100n)).toMatchObject({ value: { replicas: 2, rule: "direction" } });
  });
});

describe("a value of something else", () => {
  const text = (value: Proposal) => `${value.replicas} ${value.rule}`;
  it.each<[name: string, current: number, pods: string, usage: number, target: number, want: string]>([
    ["at the target", 3, "RRR", 100, 100, "3 tolerance"],
    ["twice", 3, "RRR", 200, 100, "6 ratio"],
    ["half", 4, "RRRR", 50, 100, "2 ratio"],
    ["only ready Pods carry the load", 4, "RRUP", 200, 100, "4 ratio"],
    ["10 % more", 3, "RRR", 110, 100, "3 tolerance"],
    ["none to zero", 3, "RRR", 0, 100, "0 ratio"],
    ["from zero: a part is one", 0, "", 10, 100, "1 ratio"],
    ["from zero: as many as needed, without tolerance", 0, "", 310, 100, "4 ratio"],
    ["from zero: nothing to do", 0, "", 0, 100, "0 ratio"],
    [
      "no Pods",
      2,
      "",
      500,
      100,
      "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    ],
    ["no Pods, within the tolerance", 2, "", 100, 100, "2 tolerance"],
    ["more than there can be", 3, "RRR", Number.MAX_SAFE_INTEGER, 1, "2147483647 ratio"],
  ])("for all: %s", (_name, current, letters, usage, target, want) => {
    const got = valueReplicas(current, BigInt(usage), BigInt(target), TENTH, podsOf(letters));
    expect(got.ok ? text(got.value) : got.error).toBe(want);
  });

  it.each<[name: string, status: number, usage: number, want: string]>([
    ["at the target", 4, 400, "4 100 tolerance"],
    ["twice", 4, 800, "8 200 ratio"],
    ["a part is rounded up", 4, 810, "9 203 ratio"],
    ["a quarter", 4, 100, "1 25 ratio"],
    ["10 % more", 10, 1100, "10 110 tolerance"],
    ["none", 4, 0, "0 0 ratio"],
    ["from zero", 0, 350, "4 350 ratio"],
    ["from zero, nothing to do", 0, 0, "0 0 ratio"],
  ])("for each Pod, with a target of 100: %s", (_name, status, usage, want) => {
    const got = perPodReplicas(status, BigInt(usage), 100n, TENTH);
    expect(`${got.replicas} ${got.milli} ${got.rule}`).toBe(want);
  });

  it("a sum stays within 63 bits", () => {
    expect(sumOf([1n, 2n, 3n])).toBe(6n);
    expect(sumOf([2n ** 62n, 2n ** 62n, 5n])).toBe(2n ** 63n - 1n);
    expect(perPodReplicas(3, 2n ** 63n - 1n, 1n, TENTH)).toMatchObject({
      replicas: 2 ** 31 - 1,
      milli: 2n ** 63n - 1n,
    });
  });
});

describe("tolerances", () => {
  it.each<[up: number, down: number, ratio: number, want: boolean]>([
    [0.1, 0.1, 1.1, true],
    [0.1, 0.1, 1.11, false],
    [0.1, 0.1, 0.9, true],
    [0.1, 0.1, 0.89, false],
    [0, 0, 1, true],
    [0, 0, 1.001, false],
    [0.5, 0.05, 1.5, true],
    [0.5, 0.05, 0.94, false],
    [0.1, 0.1, Number.POSITIVE_INFINITY, false],
    [0.1, 0.1, Number.NaN, false],
  ])("up %d down %d: %d", (up, down, ratio, want) => expect(isWithin({ up, down }, ratio)).toBe(want));

  const hpa = (up?: string, down?: string) => ({
    metadata: { name: "a" },
    spec: {
      scaleTargetRef: { kind: "Deployment", name: "a" },
      maxReplicas: 3,
      behavior: {
        scaleUp: { ...(up !== undefined && { tolerance: up }) },
        scaleDown: { ...(down !== undefined && { tolerance: down }) },
      },
    },
  });
  it.each([
    { name: "those of the controller", given: hpa(), isOn: true, want: { up: 0.1, down: 0.1 } },
    { name: "its own", given: hpa("50m", "0"), isOn: true, want: { up: 0.05, down: 0 } },
    { name: "one of its own", given: hpa("1"), isOn: true, want: { up: 1, down: 0.1 } },
    { name: "without the feature gate", given: hpa("50m", "0"), isOn: false, want: { up: 0.1, down: 0.1 } },
  ])("$name", ({ given, isOn, want }) =>
    expect(tolerancesOf(given, { tolerance: 0.1, configurableTolerance: isOn })).toEqual(want),
  );
});

describe("requests", () => {
  const pod = podOf("R", 0);
  const sidecar = { name: "proxy", image: "i", restartPolicy: "Always", resources: { requests: { cpu: "50m" } } };
  const setup = { name: "setup", image: "i", resources: {} };
  const with_ = (spec: object) => ({ ...pod, spec: { ...pod.spec, ...spec } }) as typeof pod;
  it.each([
    { name: "of one container", given: pod, container: "", want: 100n },
    { name: "with a sidecar", given: with_({ initContainers: [sidecar] }), container: "", want: 150n },
    { name: "an init container needs none", given: with_({ initContainers: [setup] }), container: "", want: 100n },
    { name: "of a sidecar alone", given: with_({ initContainers: [sidecar] }), container: "proxy", want: 50n },
    { name: "of the Pod", given: with_({ resources: { requests: { cpu: "1" } } }), container: "", want: 1000n },
    {
      name: "a container goes before the Pod",
      given: with_({ resources: { requests: { cpu: "1" } } }),
      container: "main",
      want: 100n,
    },
    {
      name: "the gate is off",
      given: with_({ resources: { requests: { cpu: "1" } } }),
      container: "",
      podLevel: false,
      want: 100n,
    },
    {
      name: "none",
      given: podOf("R", 0, ""),
      container: "",
      want: "missing request for cpu in container main of Pod r0",
    },
    { name: "no such container", given: pod, container: "other", want: "container other not found in Pod r0" },
    {
      name: "the Pod's are for something else",
      given: { ...podOf("R", 0, ""), spec: { resources: { requests: { memory: "1Gi" } }, containers: [] } },
      container: "",
      want: "missing pod-level request for cpu in Pod r0",
    },
  ])("$name", ({ given, container, podLevel = true, want }) => {
    const got = requestsOf([given], "cpu", container, podLevel);
    expect(got.ok ? got.value.get("r0") : got.error).toBe(want);
  });
});

describe("which Pods count", () => {
  it.each([
    { letters: "RRR", values: [1, 1, 1], want: [3, 0, 0, 0] },
    { letters: "RUP", values: [1, 1, 1], want: [1, 2, 0, 0] },
    { letters: "RFD", values: [1, 1, 1], want: [1, 0, 0, 2] },
    { letters: "RRR", values: [1, _, _], want: [1, 0, 2, 0] },
    { letters: "NSLB", values: [1, 1, 1, 1], want: [2, 2, 0, 0] },
    { letters: "UFDP", values: [_, _, _, _], want: [0, 1, 1, 2] },
  ])("$letters", ({ letters, values, want }) => {
    const pods = podsOf(letters);
    const groups = groupPods(pods, samplesOf(pods, values), "cpu", AUTOSCALER_DEFAULTS, NOW);
    const { readyCount, unready, missing, ignored } = groups;
    expect([readyCount, unready.size, missing.size, ignored.size]).toEqual(want);
  });

  it("ready ones are running and ready", () => expect(readyPods(podsOf("RUPFLN"))).toBe(2));
});

it.each([
  [undefined, "nil"],
  [{}, "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}"],
  [
    { matchLabels: { b: "2", a: "1" }, matchExpressions: [{ key: "c", operator: "In", values: ["x", "y"] }] },
    "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},},}",
  ],
])("a selector in a message", (selector, want) => expect(goSelector(selector)).toBe(want));
