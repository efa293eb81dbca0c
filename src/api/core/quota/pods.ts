/**
 * Usage of pods: their number, requests, limits and extended resources.
 *
 * 1. A pod that has terminated, or whose grace period is long over, counts as an object and as nothing else.
 * 2. Where a quota measures cpu or memory, every container has to set it.
 */

import { quantityOf } from "../../machinery/scalars/quantity.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import type {
  Pod,
  PodAffinityTerm,
  ScopedResourceSelectorRequirement,
  WeightedPodAffinityTerm,
} from "../../types/core-v1.ts";
import { amountsOf, type Totals } from "../pod/resources/container-totals.ts";
import { hasPodLevelResources, podLimits, podRequests } from "../pod/resources/pod-totals.ts";
import { qosClassOf } from "../pod/resources/qos.ts";
import { isExtendedResource } from "../resources/resource-list.ts";
import { countName, type QuotaEvaluator, selectsValue } from "./evaluator.ts";

const COUNT = countName("", "pods");
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const NAMES = new Set([
  COUNT,
  "pods",
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);
/** A historical mistake that must stay: quotas on these make them required. */
const REQUIRED = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);
const ONE = quantityOf(1);

export const podQuota: QuotaEvaluator = {
  group: "",
  plural: "pods",
  handles: ({ operation, subresource }) =>
    (operation === "CREATE" && (subresource === "" || subresource === "resize")) ||
    (operation === "UPDATE" && subresource === "resize"),
  matching: (names) => names.filter(isOfPods).sort(),
  matchesScope: (scope, object) => matchesScope(scope, object as Pod),
  usage: (object, now) => usage(object as Pod, now),
  constraints: (required, object) => missing(required, object as Pod),
};

function isOfPods(name: string): boolean {
  return NAMES.has(name) || /^(requests\.)?hugepages-/.test(name) || isExtendedForQuota(name);
}

/** Of extended resources only requests can be limited: they cannot be overcommitted. */
function isExtendedForQuota(name: string): boolean {
  return name.startsWith("requests.") && name.includes("/") && !name.includes("kubernetes.io/");
}

function usage(pod: Pod, now: number): Totals {
  if (!counts(pod, now)) return { [COUNT]: ONE };
  return {
    [COUNT]: ONE,
    ...computeUsage(podRequests(pod, { useStatus: true }), podLimits(pod, { useStatus: true })),
  };
}

function computeUsage(requests: Totals, limits: Totals): Totals {
  const result: Totals = { pods: ONE };
  for (const [name, amount] of Object.entries(requests)) {
    const isCompute = COMPUTE.includes(name) || name.startsWith("hugepages-");
    if (isCompute) result[name] = amount;
    if (isCompute || isExtendedResource(name)) result[`requests.${name}`] = amount;
  }
  for (const name of COMPUTE) if (limits[name] !== undefined) result[`limits.${name}`] = limits[name];
  return result;
}

/** A terminated pod is no longer charged for resources. */
function counts({ status, metadata }: Pod, now: number): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  return now <= Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}

function missing(required: readonly string[], pod: Pod): string | undefined {
  const wanted = required.filter((name) => REQUIRED.has(name));
  if (wanted.length === 0 || hasPodLevelResources(pod)) return undefined;
  const without = new Map<string, Set<string>>();
  for (const container of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]) {
    const declared = computeUsage(amountsOf(container, "requests"), amountsOf(container, "limits"));
    for (const name of wanted) {
      if (declared[name] === undefined) without.set(name, (without.get(name) ?? new Set()).add(container.name));
    }
  }
  if (without.size === 0) return undefined;
  const parts = [...without].sort(byName).map(([name, of]) => `${name} for: ${[...of].sort().join(",")}`);
  return `must specify ${parts.join("; ")}`;
}

function matchesScope(scope: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  const isTerminating = (pod.spec?.activeDeadlineSeconds ?? -1) >= 0;
  switch (scope.scopeName as string) {
    case "Terminating":
      return isTerminating;
    case "NotTerminating":
      return !isTerminating;
    case "BestEffort":
      return qosClassOf(pod) === "BestEffort";
    case "NotBestEffort":
      return qosClassOf(pod) !== "BestEffort";
    case "PriorityClass":
      return selectsValue(scope, pod.spec?.priorityClassName || undefined);
    case "CrossNamespacePodAffinity":
      return crossesNamespaces(pod);
    default:
      return false;
  }
}

function crossesNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].some(
    (affinity) =>
      (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(namesOthers) ||
      (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).some((each: WeightedPodAffinityTerm) =>
        namesOthers(each.podAffinityTerm),
      ),
  );
}

function namesOthers({ namespaces, namespaceSelector }: PodAffinityTerm): boolean {
  return (namespaces ?? []).length > 0 || namespaceSelector !== undefined;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** For the controller: whether a pod has terminated, so that its quota has to be counted anew. */
export function isChargedPod(object: KubeObject, now: number): boolean {
  return counts(object as Pod, now);
}
