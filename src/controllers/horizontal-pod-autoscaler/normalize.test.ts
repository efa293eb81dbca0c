import { describe, expect, it } from "vitest";
import type { autoscaling } from "#api";
import { firstHistory, type History, scaled } from "./history.ts";
import { limitByPolicies, limitPlainly } from "./limits.ts";
import { normalize } from "./normalize.ts";
import { NOW } from "./testing/pods.ts";

type Rules = autoscaling.HPAScalingRules;
const pods = (value: number, periodSeconds = 60) => ({ type: "Pods", value, periodSeconds });
const percent = (value: number, periodSeconds = 60) => ({ type: "Percent", value, periodSeconds });
const none: History = { recommendations: [], added: [], removed: [] };
const event = (change: number, agoSeconds: number) => ({ change, atMs: NOW - agoSeconds * 1000 });

describe("limits without a behavior", () => {
  it.each<[desired: number, current: number, min: number, max: number, want: string]>([
    [3, 3, 1, 10, "3 DesiredWithinRange"],
    [5, 3, 1, 10, "5 DesiredWithinRange"],
    [6, 3, 1, 10, "6 DesiredWithinRange"],
    [7, 3, 1, 10, "6 ScaleUpLimit"],
    [4, 1, 1, 10, "4 DesiredWithinRange"],
    [5, 1, 1, 10, "4 ScaleUpLimit"],
    [9, 1, 1, 4, "4 TooManyReplicas"],
    [9, 5, 1, 8, "8 TooManyReplicas"],
    [20, 5, 1, 10, "10 TooManyReplicas"],
    [1, 9, 3, 10, "3 TooFewReplicas"],
    [0, 2, 1, 10, "1 TooFewReplicas"],
    [0, 2, 0, 10, "0 DesiredWithinRange"],
    [1, 100, 1, 100, "1 DesiredWithinRange"],
  ])("%d wanted, %d there, %d to %d", (desired, currentReplicas, minReplicas, maxReplicas, want) => {
    const { replicas, reason } = limitPlainly(desired, { currentReplicas, minReplicas, maxReplicas });
    expect(`${replicas} ${reason}`).toBe(want);
  });
});

describe("limits by policies", () => {
  const up = (scaleUp: Rules, history: Partial<History> = {}) => ({ behavior: { scaleUp }, history });
  const down = (scaleDown: Rules, history: Partial<History> = {}) => ({ behavior: { scaleDown }, history });
  it.each<[name: string, desired: number, current: number, given: ReturnType<typeof up | typeof down>, want: string]>([
    ["Pods", 10, 3, up({ policies: [pods(4)] }), "7 ScaleUpLimit"],
    ["Percent", 10, 3, up({ policies: [percent(100)] }), "6 ScaleUpLimit"],
    ["a part of a replica is rounded up", 10, 3, up({ policies: [percent(10)] }), "4 ScaleUpLimit"],
    ["the larger one", 10, 3, up({ policies: [pods(1), percent(100)] }), "6 ScaleUpLimit"],
    ["Max says the same", 10, 3, up({ selectPolicy: "Max", policies: [pods(1), percent(100)] }), "6 ScaleUpLimit"],
    ["Min", 10, 3, up({ selectPolicy: "Min", policies: [pods(1), percent(100)] }), "4 ScaleUpLimit"],
    ["Disabled", 10, 3, up({ selectPolicy: "Disabled", policies: [pods(9)] }), "3 ScaleUpLimit"],
    ["within", 5, 3, up({ policies: [pods(4)] }), "5 DesiredWithinRange"],
    ["beyond the maximum", 50, 3, up({ policies: [pods(100)] }), "20 TooManyReplicas"],
    ["already added in this period", 10, 5, up({ policies: [pods(4)] }, { added: [event(2, 30)] }), "7 ScaleUpLimit"],
    ["added before this period", 10, 5, up({ policies: [pods(4)] }, { added: [event(2, 60)] }), "9 ScaleUpLimit"],
    ["everything used up", 10, 7, up({ policies: [pods(4)] }, { added: [event(4, 10)] }), "7 ScaleUpLimit"],
    ["more than allowed was added", 10, 9, up({ policies: [pods(4)] }, { added: [event(6, 10)] }), "9 ScaleUpLimit"],
    ["removed in this period", 12, 3, up({ policies: [pods(4)] }, { removed: [event(2, 10)] }), "9 ScaleUpLimit"],
    ["two periods", 12, 6, up({ policies: [pods(1, 30), pods(5, 90)] }, { added: [event(3, 60)] }), "8 ScaleUpLimit"],
    ["Pods down", 1, 9, down({ policies: [pods(2)] }), "7 ScaleDownLimit"],
    ["Percent down, cut", 1, 9, down({ policies: [percent(10)] }), "8 ScaleDownLimit"],
    ["Percent down, half", 1, 9, down({ policies: [percent(50)] }), "4 ScaleDownLimit"],
    ["everything down", 1, 9, down({ policies: [percent(100)] }), "2 TooFewReplicas"],
    ["the larger one down", 2, 10, down({ policies: [pods(1), percent(50)] }), "5 ScaleDownLimit"],
    ["Min down", 2, 10, down({ selectPolicy: "Min", policies: [pods(1), percent(50)] }), "9 ScaleDownLimit"],
    ["Disabled down", 2, 10, down({ selectPolicy: "Disabled", policies: [pods(9)] }), "10 ScaleDownLimit"],
    ["within, down", 8, 9, down({ policies: [pods(2)] }), "8 DesiredWithinRange"],
    [
      "removed in this period, down",
      2,
      8,
      down({ policies: [pods(4)] }, { removed: [event(2, 5)] }),
      "6 ScaleDownLimit",
    ],
    [
      "added in this period, down",
      2,
      8,
      down({ policies: [pods(4)] }, { added: [event(2, 5)] }),
      "2 DesiredWithinRange",
    ],
    ["all used up, down", 2, 4, down({ policies: [pods(2)] }, { removed: [event(6, 5)] }), "4 ScaleDownLimit"],
    ["to zero", 0, 2, down({ policies: [percent(100)] }), "2 TooFewReplicas"],
    ["unchanged", 5, 5, up({ policies: [pods(1)] }), "5 DesiredWithinRange"],
  ])("%s", (_name, desired, currentReplicas, { behavior, history }, want) => {
    const bounds = { currentReplicas, minReplicas: 2, maxReplicas: 20 };
    const { replicas, reason } = limitByPolicies(desired, bounds, behavior, { ...none, ...history }, NOW);
    expect(`${replicas} ${reason}`).toBe(want);
  });
});

describe("stabilization", () => {
  const at = (...past: readonly [replicas: number, agoSeconds: number][]): History => ({
    ...none,
    recommendations: past.map(([replicas, ago]) => ({ replicas, atMs: NOW - ago * 1000 })),
  });
  const behavior = (up: number, down?: number): autoscaling.HorizontalPodAutoscalerBehavior => ({
    scaleUp: { stabilizationWindowSeconds: up, policies: [percent(900)] },
    scaleDown: {
      ...(down !== undefined && { stabilizationWindowSeconds: down }),
      policies: [percent(100)],
    },
  });
  it.each<
    [
      name: string,
      history: History,
      behavior: autoscaling.HorizontalPodAutoscalerBehavior | undefined,
      current: number,
      desired: number,
      want: string,
    ]
  >([
    ["no window for scaling up", at([1, 10]), _(), 1, 4, "4 ReadyForNewScale"],
    ["a higher one within 5 minutes", at([4, 60]), _(), 4, 1, "4 ScaleDownStabilized"],
    ["the highest of several", at([3, 200], [5, 100], [2, 20]), _(), 5, 1, "5 ScaleDownStabilized"],
    ["exactly 5 minutes ago", at([4, 300]), _(), 4, 1, "4 ScaleDownStabilized"],
    ["more than 5 minutes ago", at([4, 301]), _(), 4, 1, "1 ReadyForNewScale"],
    ["step by step", at([4, 301], [3, 299]), _(), 4, 1, "3 ScaleDownStabilized"],
    ["a behavior without a window of its own", at([4, 299]), behavior(0), 4, 1, "4 ScaleDownStabilized"],
    ["a window of its own", at([4, 61]), behavior(0, 60), 4, 1, "1 ReadyForNewScale"],
    ["its end does not count", at([4, 60]), behavior(0, 60), 4, 1, "1 ReadyForNewScale"],
    ["within it", at([4, 59]), behavior(0, 60), 4, 1, "4 ScaleDownStabilized"],
    ["no window for scaling down", at([4, 1]), behavior(0, 0), 4, 1, "1 ReadyForNewScale"],
    ["a window for scaling up", at([1, 59]), behavior(60, 0), 1, 4, "1 ScaleUpStabilized"],
    ["the lowest within it", at([2, 50], [3, 30]), behavior(60, 0), 1, 4, "2 ScaleUpStabilized"],
    ["after it", at([1, 61]), behavior(60, 0), 1, 4, "4 ReadyForNewScale"],
    [
      "both windows: between their bounds, nothing happens",
      at([1, 30], [9, 20]),
      behavior(60, 60),
      4,
      6,
      "4 ScaleUpStabilized",
    ],
    ["both windows: down to the highest", at([3, 30], [2, 20]), behavior(60, 60), 8, 1, "3 ScaleDownStabilized"],
  ])("%s", (_name, history, given, currentReplicas, desired, want) => {
    const bounds = { currentReplicas, minReplicas: 1, maxReplicas: 20 };
    const options = { bounds, behavior: given, downscaleStabilizationMs: 300_000, history, now: NOW };
    const got = normalize(desired, options);
    expect(`${got.replicas} ${got.able.reason}`).toBe(want);
    expect(got.history.recommendations.at(-1)).toEqual({ replicas: desired, atMs: NOW });
  });

  it("limits apply to what is stable", () => {
    const bounds = { currentReplicas: 2, minReplicas: 1, maxReplicas: 20 };
    const options = { bounds, behavior: undefined, downscaleStabilizationMs: 300_000, now: NOW };
    expect(normalize(3, { ...options, history: at([15, 100]) })).toMatchObject({
      replicas: 4,
      able: { reason: "ScaleDownStabilized" },
      limited: { isLimited: true, reason: "ScaleUpLimit" },
    });
  });

  function _() {
    return undefined;
  }
});

describe("what is remembered", () => {
  const behavior = { scaleUp: { policies: [pods(1, 60)] }, scaleDown: { policies: [pods(1, 120)] } };
  it("begins with the present size", () =>
    expect(firstHistory(3, NOW)).toEqual({ ...none, recommendations: [{ replicas: 3, atMs: NOW }] }));
  it("has the changes of the longest period", () => {
    const before = { ...none, added: [event(9, 121), event(2, 119)] };
    expect(scaled(before, behavior, 2, 5, NOW)).toEqual({ ...none, added: [event(2, 119), event(3, 0)] });
    expect(scaled(none, behavior, 5, 2, NOW)).toEqual({ ...none, removed: [event(3, 0)] });
  });
  it("has no changes if there are no policies", () => expect(scaled(none, undefined, 2, 5, NOW)).toBe(none));
});
