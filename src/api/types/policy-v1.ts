/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { Condition, DeleteOptions, LabelSelector, ListMeta } from "./meta-v1.ts";

export interface Eviction {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly deleteOptions?: DeleteOptions;
}

export interface PodDisruptionBudget {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly PodDisruptionBudget[];
}

export interface PodDisruptionBudgetSpec {
  readonly minAvailable?: number | string;
  readonly selector?: LabelSelector;
  readonly maxUnavailable?: number | string;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
}

export interface PodDisruptionBudgetStatus {
  readonly observedGeneration?: Int64;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly conditions?: readonly Condition[];
}
