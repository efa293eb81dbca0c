/**
 * A plain second implementation of the published algorithm (the documentation of HorizontalPodAutoscaler, and KEP-853
 * for behaviors), compared with the real one on random loads, Pods and policies over time.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { autoscaling } from "#api";
import { firstHistory, scaled } from "./history.ts";
import { normalize } from "./normalize.ts";
import { utilizationReplicas } from "./replicas.ts";
import { requestsOf } from "./requests.ts";
import { groupPods } from "./samples.ts";
import { AUTOSCALER_DEFAULTS } from "./settings.ts";
import { NOW, podsOf, samplesOf } from "./testing/pods.ts";

const REQUEST = 100;

/** By the documentation, in its order, with numbers only. */
function plainUtilization(letters: string, used: readonly (number | undefined)[], current: number, target: number) {
  const counted = [...letters]
    .map((letter, at) => ({ letter, used: used[at] }))
    .filter(({ letter }) => !"FD".includes(letter));
  const notReady = counted.filter(
    ({ letter, used: value }) => letter === "P" || (value !== undefined && "USB".includes(letter)),
  );
  const unknown = counted.filter(({ letter, used: value }) => letter !== "P" && value === undefined);
  const known = counted.filter((each) => !notReady.includes(each) && !unknown.includes(each));
  if (known.length === 0) return undefined;
  const percent = (values: readonly number[]) =>
    Math.floor((values.reduce((a, b) => a + b, 0) * 100) / (values.length * REQUEST));
  const values = known.map((each) => each.used ?? 0);
  const first = percent(values) / target;
  const near = (ratio: number) => ratio >= 0.9 && ratio <= 1.1;
  if (unknown.length === 0 && !(first > 1 && notReady.length > 0))
    return near(first) ? current : Math.ceil(first * known.length);
  if (first < 1) values.push(...unknown.map(() => (REQUEST * Math.max(100, target)) / 100));
  if (first > 1) values.push(...unknown.map(() => 0), ...notReady.map(() => 0));
  const second = percent(values) / target;
  if (near(second) || (first - 1) * (second - 1) < 0) return current;
  const wanted = Math.ceil(second * values.length);
  return (second < 1 && wanted > current) || (second > 1 && wanted < current) ? current : wanted;
}

const podState = fc.record({
  letter: fc.constantFrom(..."RRRRRNNUPFDSLB"),
  used: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined, freq: 5 }),
});

it("asks for as many replicas as the documentation says", () => {
  fc.assert(
    fc.property(
      fc.array(podState, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: -2, max: 2 }),
      (states, target, more) => {
        const letters = states.map(({ letter }) => letter).join("");
        const used = states.map((state) => state.used);
        const current = Math.max(1, letters.length + more);
        const pods = podsOf(letters, `${REQUEST}m`);
        const samples = samplesOf(pods, used);
        const groups = groupPods(pods, samples, "cpu", AUTOSCALER_DEFAULTS, NOW);
        const requests = requestsOf(pods, "cpu", "", true);
        if (!requests.ok) throw new Error(requests.error);
        const tolerances = { up: 0.1, down: 0.1 };
        const got = utilizationReplicas(
          { currentReplicas: current, samples, groups, tolerances },
          requests.value,
          target,
        );
        expect(got.ok ? got.value.replicas : undefined).toBe(plainUtilization(letters, used, current, target));
      },
    ),
    { numRuns: 3000 },
  );
});

/** Remembers everything for ever, and looks through all of it. */
class PlainScaler {
  readonly #recommended: [replicas: number, at: number][];
  readonly #changes: [change: number, at: number][] = [];
  replicas: number;
  readonly #behavior: autoscaling.HorizontalPodAutoscalerBehavior | undefined;
  readonly #bounds: readonly [min: number, max: number];

  constructor(
    replicas: number,
    bounds: readonly [number, number],
    behavior: autoscaling.HorizontalPodAutoscalerBehavior | undefined,
    now: number,
  ) {
    this.replicas = replicas;
    this.#bounds = bounds;
    this.#behavior = behavior;
    this.#recommended = [[replicas, now]];
  }

  step(recommended: number, now: number): number {
    const stable =
      this.#behavior === undefined ? this.#plainlyStable(recommended, now) : this.#stable(recommended, now);
    this.#recommended.push([recommended, now]);
    const [min, max] = this.#bounds;
    let next = stable;
    if (this.#behavior === undefined) {
      const fastest = Math.max(2 * this.replicas, 4);
      next = Math.max(min, Math.min(next, max, fastest));
    } else if (stable > this.replicas)
      next = Math.min(stable, max, Math.max(this.replicas, this.#reach("scaleUp", now)));
    else if (stable < this.replicas)
      next = Math.max(stable, min, Math.min(this.replicas, this.#reach("scaleDown", now)));
    this.#changes.push([next - this.replicas, now]);
    this.replicas = next;
    return next;
  }

  #plainlyStable(recommended: number, now: number): number {
    return Math.max(
      recommended,
      ...this.#recommended.filter(([, at]) => now - at <= 300_000).map(([replicas]) => replicas),
    );
  }

  #stable(recommended: number, now: number): number {
    const since = (seconds: number) => [
      recommended,
      ...this.#recommended.filter(([, at]) => now - at < seconds * 1000).map(([replicas]) => replicas),
    ];
    const low = Math.min(...since(this.#behavior?.scaleUp?.stabilizationWindowSeconds ?? 0));
    const high = Math.max(...since(this.#behavior?.scaleDown?.stabilizationWindowSeconds ?? 300));
    if (this.replicas < low) return low;
    return this.replicas > high ? high : this.replicas;
  }

  #reach(direction: "scaleUp" | "scaleDown", now: number): number {
    const { policies = [], selectPolicy = "Max" } = this.#behavior?.[direction] ?? {};
    if (selectPolicy === "Disabled") return this.replicas;
    const sign = direction === "scaleUp" ? 1 : -1;
    const reached = policies.map(({ type, value, periodSeconds }) => {
      const recent = this.#changes.filter(([, at]) => now - at < periodSeconds * 1000);
      const before = this.replicas - recent.reduce((sum, [change]) => sum + change, 0);
      if (type === "Pods") return before + sign * value;
      return sign === 1 ? Math.ceil(before * (1 + value / 100)) : Math.trunc(before * (1 - value / 100));
    });
    const farthest = (selectPolicy === "Max") === (sign === 1);
    return farthest ? Math.max(...reached) : Math.min(...reached);
  }
}

const rules = fc.record({
  stabilizationWindowSeconds: fc.constantFrom(0, 15, 60, 300),
  selectPolicy: fc.constantFrom("Max", "Min", "Disabled"),
  policies: fc.array(
    fc.record({
      type: fc.constantFrom("Pods", "Percent"),
      value: fc.integer({ min: 1, max: 120 }).map((value) => Math.min(value, 100)),
      periodSeconds: fc.constantFrom(15, 30, 60, 120),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

it("is held back as the documentation says", () => {
  fc.assert(
    fc.property(
      fc.option(fc.record({ scaleUp: rules, scaleDown: rules }), { nil: undefined }),
      fc.integer({ min: 1, max: 30 }),
      fc.array(
        fc.record({ wants: fc.integer({ min: 0, max: 60 }), afterMs: fc.constantFrom(15_000, 15_100, 60_000) }),
        {
          minLength: 1,
          maxLength: 40,
        },
      ),
      (behavior, start, steps) => {
        const [minReplicas, maxReplicas] = [1, 40];
        let now = NOW;
        let replicas = start;
        let history = firstHistory(start, now);
        const plain = new PlainScaler(start, [minReplicas, maxReplicas], behavior, now);
        for (const { wants, afterMs } of steps) {
          now += afterMs;
          const bounds = { currentReplicas: replicas, minReplicas, maxReplicas };
          const got = normalize(wants, { bounds, behavior, downscaleStabilizationMs: 300_000, history, now });
          history = scaled(got.history, behavior, replicas, got.replicas, now);
          replicas = got.replicas;
          expect(replicas).toBe(plain.step(wants, now));
          expect(history.recommendations.length).toBeLessThanOrEqual(22);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
