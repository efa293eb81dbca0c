/**
 * Eviction: deletes a pod if its disruption budget allows it. It is never stored; it changes the status of the budget.
 *
 * 1. A budget whose controller lags behind allows nothing: its status may be wrong.
 * 2. The pod is recorded in the budget before it is deleted, so that two evictions never use the same allowance.
 */

import { StatusError } from "../machinery/errors/status.ts";
import * as statusErrors from "../machinery/errors/status-errors.ts";
import type { Pod } from "../types/core-v1.ts";
import type { Condition } from "../types/meta-v1.ts";
import type { Eviction, PodDisruptionBudget, PodDisruptionBudgetStatus } from "../types/policy-v1.ts";

/** The largest number of evicted pods that the controller has not seen deleted yet. */
const maxDisruptedPods = 2000;
const retryAfterSeconds = 10;
const violation = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Undefined if it names the pod of the request. */
export function evictionNameFault({ metadata }: Eviction, podName: string): StatusError | undefined {
  return (metadata.name ?? "") === podName
    ? undefined
    : statusErrors.badRequest("name in URL does not match name in Eviction object");
}

/** A pod that does not run does not count against a budget. */
export function isOutsideBudgets({ metadata, status }: Pod): boolean {
  const phase = status?.phase;
  return phase === "Pending" || phase === "Succeeded" || phase === "Failed" || metadata.deletionTimestamp !== undefined;
}

/** A running pod that is not ready: the unhealthyPodEvictionPolicy may allow its eviction. */
export function mayGoUnready({ status }: Pod, { spec, status: budget = {} }: PodDisruptionBudget): boolean {
  const ready = (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
  if (ready) return false;
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/**
 * The budget's status with the pod recorded in it, or why the eviction is refused. `now` is a time as the API writes
 * it.
 */
export function spendBudget(
  budget: PodDisruptionBudget,
  podName: string,
  now: string,
): PodDisruptionBudgetStatus | StatusError {
  const { metadata, status = {} } = budget;
  const name = metadata.name ?? "";
  const resource = { group: "policy", resource: "poddisruptionbudget" };
  const { observedGeneration = 0, disruptionsAllowed: allowed = 0, disruptedPods = {} } = status;
  if (observedGeneration < (metadata.generation ?? 0)) {
    return refused(retryAfterSeconds, `The disruption budget ${name} is still being processed by the server.`);
  }
  if (allowed < 0) return statusErrors.forbidden(resource, name, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    return statusErrors.forbidden(
      resource,
      name,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    );
  }
  if (allowed === 0) return refused(0, whyNot(name, status));
  const left = allowed - 1;
  return {
    ...status,
    disruptedPods: { ...disruptedPods, [podName]: now },
    disruptionsAllowed: left,
    ...(left === 0 ? { conditions: spentConditions(status, now) } : {}),
  };
}

function whyNot(
  name: string,
  { conditions = [], desiredHealthy = 0, currentHealthy = 0 }: PodDisruptionBudgetStatus,
): string {
  const condition = conditions.find(({ type }) => type === "DisruptionAllowed");
  if (condition?.status === "False" && condition.reason === "SyncFailed") {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  }
  return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
}

function spentConditions(
  { conditions = [], observedGeneration }: PodDisruptionBudgetStatus,
  now: string,
): readonly Condition[] {
  const old = conditions.find(({ type }) => type === "DisruptionAllowed");
  const spent = {
    type: "DisruptionAllowed",
    status: "False",
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: old?.status === "False" ? old.lastTransitionTime : now,
    reason: "InsufficientPods",
    message: "",
  };
  return old === undefined
    ? [...conditions, spent]
    : conditions.map((condition) => (condition === old ? spent : condition));
}

function refused(retryAfter: number, cause: string): StatusError {
  const causes = [{ reason: "DisruptionBudget", message: cause }];
  return new StatusError("TooManyRequests", violation, {
    details: { causes, ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}) },
  });
}
