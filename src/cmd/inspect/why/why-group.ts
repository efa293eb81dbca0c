/**
 * What holds the PodGroup of a Pod back: too few Pods, one that does not fit, and who has the place that it needs.
 *
 * 1. The scheduler's condition says how many fit, and which Pod does not.
 */
import { compareQuantities, type core, podRequests, type schedulingV1alpha2 } from "#api";
import type { Reason, WhyAnswer } from "./answer.ts";

export interface GroupFacts {
  readonly name: string;
  /** Undefined: it does not exist. */
  readonly group: schedulingV1alpha2.PodGroup | undefined;
  /** Its Pods that have not ended. */
  readonly members: readonly core.Pod[];
  /** Pods that have a node, of all groups. */
  readonly placed: readonly core.Pod[];
}

const MAX_HOLDERS = 3;

/** Undefined: it holds nothing back. */
export function whyGroup({ name, group, members, placed }: GroupFacts): WhyAnswer | undefined {
  const what = `podgroup/${name}`;
  if (group === undefined)
    return { what, cause: "it does not exist", because: [], help: [`create the PodGroup ${name}`] };
  const minCount = group.spec.schedulingPolicy.gang?.minCount;
  if (minCount !== undefined && members.length < minCount) {
    const cause = `${members.length} of at least ${minCount} Pods exist`;
    const help = [`create ${minCount - members.length} more Pods with spec.schedulingGroup.podGroupName: ${name}`];
    return { what, cause, because: [{ text: cause, evidence: "spec.schedulingPolicy.gang.minCount" }], help };
  }
  const condition = group.status?.conditions?.find(({ type }) => type === "PodGroupScheduled");
  if (condition?.status !== "False") return undefined;
  const { fits, pod, reason } = outcomeIn(condition.message ?? "");
  const whole = minCount === undefined ? "" : ` of at least ${minCount}`;
  const cause =
    fits === undefined
      ? (condition.message ?? "")
      : `${fits}${whole} Pods fit${pod === undefined ? "" : `; ${pod} does not: ${reason}`}`;
  const holders = holdersOf(members, placed, reason ?? "");
  const because: Reason[] = [{ text: condition.message ?? "", evidence: "condition PodGroupScheduled" }];
  if (holders.length > 0) because.push({ text: `the place is held by ${holders.join(", ")}`, evidence: "Pods" });
  const help = [
    "all of its Pods start together: make room for those that do not fit, or lower what they request",
    ...(holders.length > 0 ? [`what would free a place: the end of ${holders[0]}`] : []),
  ];
  return { what, cause, because, help };
}

interface Outcome {
  readonly fits: string | undefined;
  readonly pod: string | undefined;
  readonly reason: string | undefined;
}

function outcomeIn(message: string): Outcome {
  const found = /cannot be satisfied: (\d+) scheduled, \d+ remaining(?:; ([^:\s]+\/[^:\s]+): (.*))?$/s.exec(message);
  return { fits: found?.[1], pod: found?.[2], reason: found?.[3] };
}

/** The largest users of the resource that is short, those that are less important first. */
function holdersOf(members: readonly core.Pod[], placed: readonly core.Pod[], reason: string): readonly string[] {
  const resource = /Insufficient ([^\s,.]+(?:\.[^\s,]+)*)/.exec(reason)?.[1];
  if (resource === undefined) return [];
  const own = new Set(members.map(({ metadata }) => metadata.uid));
  return placed
    .filter(({ metadata }) => !own.has(metadata.uid))
    .flatMap((pod) => {
      const amount = podRequests(pod, { useStatus: true })[resource];
      return amount === undefined ? [] : [{ pod, amount }];
    })
    .sort((a, b) => priorityOf(a.pod) - priorityOf(b.pod) || compareQuantities(b.amount, a.amount))
    .slice(0, MAX_HOLDERS)
    .map(({ pod: { metadata, spec } }) => `pod ${metadata.namespace}/${metadata.name} on ${spec?.nodeName}`);
}

function priorityOf({ spec }: core.Pod): number {
  return spec?.priority ?? 0;
}
