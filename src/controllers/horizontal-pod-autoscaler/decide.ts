/**
 * What becomes of an autoscaler, from what was read about it: pure.
 *
 *     metrics ──► proposals ──► the highest ──► stabilization, limits ──► replicas ──► conditions, events, status
 *
 * 1. The highest proposal counts. A metric that fails keeps the others from scaling down, not from scaling up.
 * 2. A target without replicas is left alone, unless this controller has scaled it to zero: see zero.ts.
 * 3. Outside of the bounds the number is corrected at once, without a look at metrics.
 */
import type { autoscaling, core } from "#api";
import { type Evaluated, evaluate, type Reading } from "./evaluate.ts";
import { firstHistory, type History, scaled } from "./history.ts";
import { normalize } from "./normalize.ts";
import type { AutoscalerSettings } from "./settings.ts";
import { type ConditionType, statusOf, withCondition } from "./status.ts";
import { tolerancesOf } from "./tolerances.ts";
import { type AtZero, atZero, scaledToZero } from "./zero.ts";

type Hpa = autoscaling.HorizontalPodAutoscaler;
type Status = autoscaling.HorizontalPodAutoscalerStatus;

export interface EventFacts {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

/** The target's scale, as far as it is needed. */
export interface TargetScale {
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

/** What was read for the metrics; or why their Pods cannot be told. */
export type Readings =
  | { readonly ok: true; readonly pods: readonly core.Pod[]; readonly readings: readonly Reading[] }
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly event: EventFacts };

export interface Decision {
  readonly events: readonly EventFacts[];
  /** The status, unless the target is to be scaled. */
  readonly status: Status;
  readonly history: History;
  readonly rescale?: Rescale | undefined;
  /** Each metric, where they were read. */
  readonly evaluated?: readonly Evaluated[] | undefined;
  /** What could not be computed, for the log. */
  readonly error?: string | undefined;
}

export interface Rescale {
  readonly replicas: number;
  readonly reason: string;
  succeeded(): Outcome;
  failed(error: string): Outcome;
}

export interface Outcome {
  readonly status: Status;
  readonly event: EventFacts;
  readonly history: History;
}

/** Before the scale of the target is known. */
export function targetFailed(hpa: Hpa, error: string, now: number): Pick<Decision, "events" | "status"> {
  const message = `the HPA controller was unable to get the target's current scale: ${error}`;
  const before = hpa.status ?? { desiredReplicas: 0 };
  const why = { reason: "FailedGetScale", message };
  return {
    events: [{ type: "Warning", reason: "FailedGetScale", note: error }],
    status: { ...before, conditions: withCondition(before.conditions ?? [], "AbleToScale", false, why, now) },
  };
}

/** Whether metrics have to be read at all. */
export function needsMetrics(hpa: Hpa, { specReplicas }: TargetScale, settings: AutoscalerSettings): boolean {
  if (specReplicas === 0) return atZero(hpa, settings) !== "disabled";
  const { minReplicas = 1, maxReplicas } = hpa.spec;
  return specReplicas <= maxReplicas && specReplicas >= minReplicas;
}

export interface Deciding {
  readonly hpa: Hpa;
  readonly scale: TargetScale;
  /** Undefined if `needsMetrics` says so. */
  readonly read: Readings | undefined;
  readonly history: History | undefined;
  readonly settings: AutoscalerSettings;
  readonly now: number;
}

const BELOW_MINIMUM = "Current number of replicas below Spec.MinReplicas";

export function decide(deciding: Deciding): Decision {
  return new Deliberation(deciding).decide();
}

class Deliberation {
  readonly #given: Deciding;
  readonly #events: EventFacts[] = [];
  #conditions;
  #history: History;
  #metrics: readonly autoscaling.MetricStatus[] | undefined;
  #evaluated: readonly Evaluated[] | undefined;

  constructor(given: Deciding) {
    this.#given = given;
    this.#conditions = given.hpa.status?.conditions ?? [];
    this.#history = given.history ?? firstHistory(given.scale.specReplicas, given.now);
  }

  decide(): Decision {
    const { hpa, scale, read, settings } = this.#given;
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    const { specReplicas: current } = scale;
    this.#set("AbleToScale", true, {
      reason: "SucceededGetScale",
      message: "the HPA controller was able to get the target's current scale",
    });
    const zero: AtZero | undefined = current === 0 ? atZero(hpa, settings) : undefined;
    if (zero === "disabled") {
      const message = "scaling is disabled since the replica count of the target is zero";
      this.#set("ScalingActive", false, { reason: "ScalingDisabled", message });
      return this.#unchanged(current);
    }
    if (current > maxReplicas) return this.#rescale(maxReplicas, "Current number of replicas above Spec.MaxReplicas");
    if (current < minReplicas && zero === undefined) return this.#rescale(minReplicas, BELOW_MINIMUM);
    if (read === undefined) throw new TypeError("the metrics were not read");
    const proposed = this.#propose(read);
    if (!proposed.ok) {
      this.#events.push({ type: "Warning", reason: "FailedComputeMetricsReplicas", note: proposed.error });
      const unchanged = this.#unchanged(hpa.status?.desiredReplicas ?? 0);
      return { ...unchanged, evaluated: this.#evaluated, error: proposed.error };
    }
    const { replicas: recommended, name, error } = proposed;
    const reason = recommended > current ? `${name} above target` : "All metrics below target";
    const { replicas, history, able, limited } = normalize(recommended, {
      ...this.#given,
      bounds: { currentReplicas: current, minReplicas, maxReplicas },
      behavior: hpa.spec.behavior,
      downscaleStabilizationMs: settings.downscaleStabilizationMs,
      history: this.#history,
    });
    this.#history = history;
    this.#set("AbleToScale", true, able);
    this.#set("ScalingLimited", limited.isLimited, limited);
    if (zero === "below-minimum" && replicas <= minReplicas) {
      const decision = this.#rescale(minReplicas, recommended > current ? reason : BELOW_MINIMUM);
      return { ...decision, evaluated: this.#evaluated, error };
    }
    const decision = replicas === current ? this.#unchanged(current) : this.#rescale(replicas, reason);
    return { ...decision, evaluated: this.#evaluated, error };
  }

  #propose(
    read: Readings,
  ):
    | { readonly ok: true; readonly replicas: number; readonly name: string; readonly error: string | undefined }
    | { readonly ok: false; readonly error: string } {
    const { scale, hpa } = this.#given;
    if (!read.ok) {
      this.#events.push(read.event);
      this.#set("ScalingActive", false, read);
      return { ok: false, error: read.event.note };
    }
    const evaluated = this.#evaluate(read);
    this.#evaluated = evaluated;
    this.#metrics = evaluated.map((each) => (each.ok ? each.status : { type: "" }));
    let replicas = 0;
    let name = "";
    const failures: Extract<Evaluated, { ok: false }>[] = [];
    for (const each of evaluated) {
      if (!each.ok) {
        failures.push(each);
        this.#events.push({ type: "Warning", reason: each.reason, note: each.message });
      } else if (replicas === 0 || each.proposal.replicas > replicas) {
        replicas = each.proposal.replicas;
        name = each.name;
      }
    }
    const [first] = failures;
    const count = (hpa.spec.metrics ?? []).length;
    const error =
      first && `invalid metrics (${failures.length} invalid out of ${count}), first error is: ${first.error}`;
    if (first !== undefined && error !== undefined && (failures.length >= count || replicas < scale.specReplicas)) {
      const message = `the HPA was unable to compute the replica count: ${first.message}`;
      this.#set("ScalingActive", false, { reason: first.reason, message });
      return { ok: false, error };
    }
    const message = `the HPA was able to successfully calculate a replica count from ${name}`;
    this.#set("ScalingActive", true, { reason: "ValidMetricFound", message });
    return { ok: true, replicas, name, error };
  }

  #evaluate({ pods, readings }: Extract<Readings, { ok: true }>): readonly Evaluated[] {
    const { hpa, scale, settings, now } = this.#given;
    const situation = { hpa, ...scale, pods, tolerances: tolerancesOf(hpa, settings), settings, now };
    return (hpa.spec.metrics ?? []).map((metric, at) => {
      const reading = readings[at];
      if (reading === undefined) throw new TypeError("a metric was not read");
      return evaluate(metric, reading, situation);
    });
  }

  #unchanged(desiredReplicas: number): Decision {
    const { hpa, scale } = this.#given;
    const figures = { currentReplicas: scale.specReplicas, desiredReplicas, metrics: this.#metrics };
    const status = statusOf(hpa.status, { ...figures, conditions: this.#conditions });
    return { events: this.#events, status, history: this.#history };
  }

  #rescale(replicas: number, reason: string): Decision {
    const { hpa, scale, settings, now } = this.#given;
    const figures = { currentReplicas: scale.specReplicas, metrics: this.#metrics };
    const withAble = (isTrue: boolean, why: { readonly reason: string; readonly message: string }) =>
      withCondition(this.#conditions, "AbleToScale", isTrue, why, now);
    const rescale: Rescale = {
      replicas,
      reason,
      succeeded: () => {
        const message = `the HPA controller was able to update the target scale to ${replicas}`;
        const able = withAble(true, { reason: "SucceededRescale", message });
        const zero = scaledToZero(hpa, scale.specReplicas, replicas, settings);
        const conditions = zero === undefined ? able : withCondition(able, "ScaledToZero", zero.isTrue, zero, now);
        return {
          status: statusOf(hpa.status, { ...figures, desiredReplicas: replicas, conditions, scaledAt: now }),
          event: { type: "Normal", reason: "SuccessfulRescale", note: `New size: ${replicas}; reason: ${reason}` },
          history: scaled(this.#history, hpa.spec.behavior, scale.specReplicas, replicas, now),
        };
      },
      failed: (error) => {
        const message = `the HPA controller was unable to update the target scale: ${error}`;
        const conditions = withAble(false, { reason: "FailedUpdateScale", message });
        const note = `New size: ${replicas}; reason: ${reason}; error: ${error}`;
        const { desiredReplicas = 0 } = hpa.status ?? {};
        return {
          status: statusOf(hpa.status, { ...figures, desiredReplicas, conditions }),
          event: { type: "Warning", reason: "FailedRescale", note },
          history: this.#history,
        };
      },
    };
    return { ...this.#unchanged(replicas), rescale };
  }

  #set(type: ConditionType, isTrue: boolean, why: { readonly reason: string; readonly message: string }): void {
    this.#conditions = withCondition(this.#conditions, type, isTrue, why, this.#given.now);
  }
}
