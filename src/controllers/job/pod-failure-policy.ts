/**
 * The pod failure policy: the first matching rule decides what a failed Pod means; without one it counts.
 *
 * 1. onExitCodes matches containers that ended with an error, onPodConditions the conditions of the Pod.
 */
import type { batch, core } from "#api";
import type { Pod } from "../pods/index.ts";

type Rule = batch.PodFailurePolicyRule;

export interface Judgement {
  readonly action?: Rule["action"];
  /** Counts towards the backoff limits. */
  readonly counts: boolean;
  /** Why the whole Job fails. */
  readonly failsJob?: string;
}

export function judge(policy: batch.PodFailurePolicy | undefined, pod: Pod): Judgement {
  for (const [at, rule] of (policy?.rules ?? []).entries()) {
    const evidence = evidenceFor(rule, pod);
    if (evidence === undefined) continue;
    const { action } = rule;
    return {
      action,
      counts: action !== "Ignore",
      ...(action === "FailJob" && { failsJob: `${evidence} matching ${action} rule at index ${at}` }),
    };
  }
  return { counts: true };
}

function evidenceFor({ onExitCodes, onPodConditions = [] }: Rule, { metadata, status }: Pod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes !== undefined) {
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const failed = statuses.find((container) => hasExitCode(container, onExitCodes));
    if (failed === undefined) return undefined;
    return `Container ${failed.name} for pod ${pod} failed with exit code ${failed.state?.terminated?.exitCode}`;
  }
  const condition = (status?.conditions ?? []).find(({ type, status: state }) =>
    onPodConditions.some((pattern) => pattern.type === type && (pattern.status ?? "True") === state),
  );
  return condition === undefined ? undefined : `Pod ${pod} has condition ${condition.type}`;
}

function hasExitCode(
  { name, state }: core.ContainerStatus,
  { containerName, operator, values }: batch.PodFailurePolicyOnExitCodesRequirement,
): boolean {
  const exitCode = state?.terminated?.exitCode ?? 0;
  if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false;
  return values.includes(exitCode) === (operator === "In");
}
