/**
 * How many replicas one metric asks for: the published algorithm, without anything that holds it back afterwards.
 *
 *     replicas = ceil(replicas × usage ÷ target), unless usage ÷ target is within the tolerance of 1
 *
 * 1. Pods without a sample are taken for as busy as would hold a change back: at least their whole request (or the
 *    target) before scaling down, idle before scaling up. Pods that are not ready yet are idle before scaling up.
 * 2. These assumptions may cancel a change, but never turn its direction.
 * 3. The average of usage is cut to an integer, and so is the utilization in percent: both decide about the ratio.
 */
import type { core } from "#api";
import { type Computed, type PodGroups, type PodSamples, readyPods } from "./samples.ts";

const MAX_INT32 = 2 ** 31 - 1;
const MAX_INT64 = 2n ** 63n - 1n;
const NO_SAMPLES = "did not receive metrics for targeted pods (pods might be unready)";
const NO_MATCH = "no metrics returned matched known pods";
export const NO_PODS = "no pods returned by selector while calculating replica count";

export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

/** Which rule decided, for `k8ts why`. */
export type Rule =
  /** The ratio is close enough to 1. */
  | "tolerance"
  /** With what is assumed of Pods without figures, the ratio is close enough to 1, or on its other side. */
  | "assumed"
  /** With these assumptions the number would move against the ratio. */
  | "direction"
  | "ratio";

export interface Proposal {
  readonly replicas: number;
  /** Usage ÷ target as measured, before assumptions. */
  readonly ratio: number;
  readonly rule: Rule;
}

/** Of Pods: `milli` is the average. */
export interface PodsProposal extends Proposal {
  readonly milli: bigint;
  /** Only if the target is one. */
  readonly utilization?: number | undefined;
}

export function isWithin({ up, down }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up;
}

export interface PodFigures {
  readonly currentReplicas: number;
  readonly samples: PodSamples;
  readonly groups: PodGroups;
  readonly tolerances: Tolerances;
}

/** For a target in percent of requests. */
export function utilizationReplicas(
  figures: PodFigures,
  requests: ReadonlyMap<string, bigint>,
  target: number,
): Computed<PodsProposal> {
  const measure = (values: Values): Computed<Measured> => {
    let used = 0n;
    let requested = 0n;
    for (const [pod, milli] of values) {
      const request = requests.get(pod);
      if (request === undefined) continue;
      used += milli;
      requested += request;
    }
    if (requested === 0n) return { ok: false, error: NO_MATCH };
    const utilization = Number((used * 100n) / requested);
    return { ok: true, value: { ratio: utilization / target, utilization, milli: used / BigInt(values.size) } };
  };
  const percent = BigInt(Math.max(100, target));
  return podReplicas(figures, measure, (pod) => ((requests.get(pod) ?? 0n) * percent) / 100n);
}

/** For a target in units of the metric, for each Pod. */
export function averageReplicas(figures: PodFigures, target: bigint): Computed<PodsProposal> {
  const measure = (values: Values): Computed<Measured> => {
    let used = 0n;
    for (const milli of values.values()) used += milli;
    const milli = used / BigInt(values.size);
    return { ok: true, value: { ratio: Number(milli) / Number(target), milli } };
  };
  return podReplicas(figures, measure, () => target);
}

type Values = ReadonlyMap<string, bigint>;

interface Measured {
  readonly ratio: number;
  readonly milli: bigint;
  readonly utilization?: number;
}

function podReplicas(
  { currentReplicas, samples, groups, tolerances }: PodFigures,
  measure: (values: Values) => Computed<Measured>,
  busy: (pod: string) => bigint,
): Computed<PodsProposal> {
  const { readyCount, unready, missing, ignored } = groups;
  const values = new Map<string, bigint>();
  for (const [pod, { milli }] of samples) if (!ignored.has(pod) && !unready.has(pod)) values.set(pod, milli);
  if (values.size === 0) return { ok: false, error: NO_SAMPLES };
  const measured = measure(values);
  if (!measured.ok) return measured;
  const { ratio } = measured.value;
  const proposal = (replicas: number, rule: Rule): Computed<PodsProposal> => ({
    ok: true,
    value: { replicas, rule, ...measured.value },
  });
  const assumesIdle = unready.size > 0 && ratio > 1;
  if (!assumesIdle && missing.size === 0) {
    if (isWithin(tolerances, ratio)) return proposal(currentReplicas, "tolerance");
    return proposal(ceil(ratio * readyCount), "ratio");
  }
  if (ratio !== 1) for (const pod of missing) values.set(pod, ratio < 1 ? busy(pod) : 0n);
  if (assumesIdle) for (const pod of unready) values.set(pod, 0n);
  const assumed = measure(values);
  if (!assumed.ok) return assumed;
  const { ratio: after } = assumed.value;
  if (isWithin(tolerances, after) || (ratio < 1 && after > 1) || (ratio > 1 && after < 1))
    return proposal(currentReplicas, "assumed");
  const replicas = ceil(after * values.size);
  if ((after < 1 && replicas > currentReplicas) || (after > 1 && replicas < currentReplicas))
    return proposal(currentReplicas, "direction");
  return proposal(replicas, "ratio");
}

/** For a metric of something else, with a target for its whole value: spread over the ready Pods. */
export function valueReplicas(
  currentReplicas: number,
  usage: bigint,
  target: bigint,
  tolerances: Tolerances,
  pods: readonly core.Pod[],
): Computed<Proposal> {
  const ratio = Number(usage) / Number(target);
  // Without replicas there is nothing to be tolerant of: the ratio alone decides whether there is work.
  if (currentReplicas === 0) return { ok: true, value: { replicas: ceil(ratio), ratio, rule: "ratio" } };
  if (isWithin(tolerances, ratio)) return { ok: true, value: { replicas: currentReplicas, ratio, rule: "tolerance" } };
  if (pods.length === 0) return { ok: false, error: `unable to calculate ready pods: ${NO_PODS}` };
  return { ok: true, value: { replicas: ceil(ratio * readyPods(pods)), ratio, rule: "ratio" } };
}

/** The same with a target for each Pod. `milli` is the average. */
export function perPodReplicas(
  statusReplicas: number,
  usage: bigint,
  target: bigint,
  tolerances: Tolerances,
): Proposal & { readonly milli: bigint } {
  const ratio = Number(usage) / (Number(target) * statusReplicas);
  const milli = usage >= MAX_INT64 ? MAX_INT64 : averageUp(usage, statusReplicas);
  if (isWithin(tolerances, ratio)) return { replicas: statusReplicas, ratio, rule: "tolerance", milli };
  return { replicas: ceil(Number(usage) / Number(target)), ratio, rule: "ratio", milli };
}

/** Values of one metric; the sum stays within what Kubernetes holds. */
export function sumOf(values: readonly bigint[]): bigint {
  const sum = values.reduce((before, value) => before + value, 0n);
  return sum > MAX_INT64 ? MAX_INT64 : sum;
}

/** Without replicas there is no average: the whole is shown. */
function averageUp(usage: bigint, replicas: number): bigint {
  if (replicas === 0) return usage;
  const by = BigInt(replicas);
  return usage > 0n ? (usage + by - 1n) / by : usage / by;
}

function ceil(replicas: number): number {
  return Math.min(MAX_INT32, Math.ceil(replicas));
}
