/** Where custom and external metrics come from: Prometheus, or a script. */
import type { LabelMatcher } from "#api";

/** A resource as in paths of the API: `pods`, `deployments.apps`. */
export interface GroupResource {
  readonly group: string;
  /** Plural. */
  readonly resource: string;
}

export interface CustomMetric extends GroupResource {
  readonly metric: string;
  readonly namespaced: boolean;
}

export interface CustomQuestion extends GroupResource {
  readonly metric: string;
  /** Empty: the resource has no namespace. */
  readonly namespace: string;
  /** Of objects that exist, or the one that was asked for. */
  readonly names: readonly string[];
  /** Of the metric's own labels. */
  readonly selector: LabelMatcher;
}

export interface ExternalQuestion {
  readonly metric: string;
  readonly namespace: string;
  readonly selector: LabelMatcher;
}

export interface ExternalSample {
  readonly milli: bigint;
  readonly atMs: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Undefined values: there is no such metric here. A rejection: its values cannot be read now. */
export interface MetricSource {
  customMetrics(): readonly CustomMetric[];
  externalMetrics(): readonly string[];
  /** Thousandths by object name; objects without a value are left out. */
  custom(question: CustomQuestion, signal: AbortSignal): Promise<ReadonlyMap<string, bigint> | undefined>;
  external(question: ExternalQuestion, signal: AbortSignal): Promise<readonly ExternalSample[] | undefined>;
}

const LARGEST = 2n ** 63n - 1n;

/** What Prometheus holds as a float; what is not a number counts as nothing. */
export function milliOf(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (Math.abs(value) * 1000 >= Number(LARGEST)) return value > 0 ? LARGEST : -LARGEST;
  return BigInt(Math.trunc(value * 1000));
}

export function titleOf({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

export function groupResource(title: string): GroupResource {
  const dot = title.indexOf(".");
  return dot === -1 ? { group: "", resource: title } : { group: title.slice(dot + 1), resource: title.slice(0, dot) };
}
