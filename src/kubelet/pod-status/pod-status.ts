/**
 * The status of a Pod: a pure function of the Pod, the observed state, and the time.
 *
 *      Pod ─┐
 *           ├──► container statuses ──► phase ──► conditions ──► PodStatus
 * observed ─┘
 *
 * 1. A final phase is never left, and is reported only once no container runs any more: until then the phase stays.
 * 2. Fields that other components own stay as they are in the API.
 * 3. `pod` has the allocated resources: while a resize is pending, those from before.
 */
import { type core, formatQuantity, podLimits, podRequests, qosClassOf, type Totals } from "#api";
import type { PodFailure } from "../lifecycle/index.ts";
import { conditionsOf } from "./conditions.ts";
import { type ContainerStatuses, containerStatuses } from "./container-statuses.ts";
import type { ObservedPod } from "./observed.ts";
import { isFinal, type Phase, phaseOf } from "./phase.ts";
import { timestamp } from "./time.ts";

export function podStatus(pod: core.Pod, observed: ObservedPod, now: number): core.PodStatus {
  const api = pod.status ?? {};
  const before = observed.previous ?? api;
  const statuses = containerStatuses(pod, observed, before);
  const ending = endOf(pod, observed, statuses, before);
  const { generation } = pod.metadata;
  return {
    ...fieldsOfOthers(api),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...ending,
    conditions: conditionsOf({ pod, observed, statuses, phase: ending.phase, before, now }),
    ...addresses(pod, observed, before),
    startTime: before.startTime ?? api.startTime ?? timestamp(now),
    ...(statuses.init.length > 0 && { initContainerStatuses: statuses.init }),
    containerStatuses: statuses.regular,
    ...(statuses.ephemeral.length > 0 && { ephemeralContainerStatuses: statuses.ephemeral }),
    qosClass: qosClassOf(pod),
    ...resourcesOf(pod),
  };
}

/** The status of a Pod that the node rejects. */
export function rejectedStatus(pod: core.Pod, { reason, message }: PodFailure, now: number): core.PodStatus {
  const { generation } = pod.metadata;
  return {
    ...pod.status,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: "Failed",
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: pod.status?.startTime ?? timestamp(now),
    qosClass: qosClassOf(pod),
  };
}

interface Ending {
  readonly phase: Phase;
  readonly reason?: string;
  readonly message?: string;
}

function endOf(pod: core.Pod, observed: ObservedPod, statuses: ContainerStatuses, before: core.PodStatus): Ending {
  const { isOver = false, failure } = observed;
  const found = phaseOf(pod, statuses, isOver);
  const final = [pod.status?.phase, before.phase].find((phase) => isFinal(phase));
  const next: Ending =
    failure !== undefined && final === undefined ? { phase: "Failed", ...failure } : { phase: final ?? found };
  const isNews = isFinal(next.phase) && final === undefined;
  if (isNews && anyRuns(statuses)) return { phase: before.phase ?? "Pending", ...why(before) };
  if (next.reason !== undefined || next.phase !== before.phase) return next;
  return { ...next, ...why(before) };
}

function why({ reason, message }: core.PodStatus) {
  return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
}

function anyRuns({ init, regular, ephemeral }: ContainerStatuses): boolean {
  return [...init, ...regular, ...ephemeral].some(({ state }) => state?.running !== undefined);
}

function fieldsOfOthers(api: core.PodStatus): core.PodStatus {
  const { nominatedNodeName, resourceClaimStatuses, extendedResourceClaimStatus } = api;
  return {
    ...(nominatedNodeName !== undefined && { nominatedNodeName }),
    ...(resourceClaimStatuses !== undefined && { resourceClaimStatuses }),
    ...(extendedResourceClaimStatus !== undefined && { extendedResourceClaimStatus }),
  };
}

/** A Pod's addresses stay in its status after its sandbox is gone. */
function addresses(pod: core.Pod, { hostIPs, podIPs }: ObservedPod, before: core.PodStatus): core.PodStatus {
  const own = pod.spec?.hostNetwork === true ? hostIPs : podIPs;
  const known = own.length > 0 ? own.map((ip) => ({ ip })) : (before.podIPs ?? []);
  const [host] = hostIPs;
  const [first] = known;
  return {
    ...(host !== undefined && { hostIP: host, hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(first?.ip !== undefined && { podIP: first.ip, podIPs: known }),
  };
}

/** The resources of the whole Pod. */
function resourcesOf(pod: core.Pod): core.PodStatus {
  const requests = amounts(podRequests(pod));
  const limits = amounts(podLimits(pod));
  return {
    ...(requests !== undefined && { allocatedResources: requests }),
    resources: { ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) },
  };
}

function amounts(totals: Totals): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(totals);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name, amount]) => [name, formatQuantity(amount)]));
}
