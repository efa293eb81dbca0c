/**
 * Requests and limits as cgroup values: CPU shares and quota, bytes of memory, and the OOM score.
 *
 * 1. A container without a CPU request gets the smallest share; a limit without a request counts as a request.
 * 2. The kernel's out-of-memory score follows the QoS class: Guaranteed last, BestEffort first, Burstable in between
 *    by its request.
 */
import { type core, parseQuantity, podLimits, podRequests, qosClassOf, scaledValue, type Totals } from "#api";
import { isSidecar } from "../lifecycle/index.ts";
import type { LinuxResources } from "../runtime/runtime.ts";
import type { AnyContainer } from "./names.ts";
import { PLAIN_RULES, type ResourceRules, ruledResources } from "./resource-rules.ts";

const PERIOD_US = 100_000;
const MIN_QUOTA_US = 1000;
const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const SHARES_PER_CPU = 1024;
const CRITICAL_PRIORITY = 2_000_000_000;
const GUARANTEED_SCORE = -997;
const BEST_EFFORT_SCORE = 1000;

export function cpuShares(milliCpu: number): number {
  if (milliCpu === 0) return MIN_SHARES;
  return Math.min(MAX_SHARES, Math.max(MIN_SHARES, Math.floor((milliCpu * SHARES_PER_CPU) / 1000)));
}

export function cpuQuota(milliCpu: number, periodUs = PERIOD_US): Pick<LinuxResources, "cpuPeriod" | "cpuQuota"> {
  if (milliCpu === 0) return {};
  return { cpuPeriod: periodUs, cpuQuota: Math.max(MIN_QUOTA_US, Math.floor((milliCpu * periodUs) / 1000)) };
}

/** Where a container runs: CPUs and NUMA nodes as cgroups list them. */
export interface CpuPlacement {
  readonly cpus?: string | undefined;
  readonly mems?: string | undefined;
  /** It has these CPUs for itself: a quota would only slow it down. */
  readonly isExclusive: boolean;
}

export interface ResourceContext {
  readonly memoryCapacityBytes: number;
  /** Default: those of a plain node. */
  readonly rules?: ResourceRules | undefined;
  readonly placement?: CpuPlacement | undefined;
}

export function containerResources(
  pod: core.Pod,
  container: AnyContainer,
  { memoryCapacityBytes, rules = PLAIN_RULES, placement }: ResourceContext,
): LinuxResources {
  const { requests, limits } = container.resources ?? {};
  const hasQuota = rules.cpuQuota && placement?.isExclusive !== true;
  const limitCpu = milli(limits?.cpu);
  const requestCpu = requests?.cpu === undefined ? limitCpu : milli(requests.cpu);
  const memory = bytes(limits?.memory);
  return {
    cpuShares: cpuShares(requestCpu),
    ...(hasQuota && cpuQuota(limitCpu, rules.cpuPeriodUs)),
    ...(memory > 0 && { memoryLimitBytes: memory }),
    oomScoreAdj: oomScore(pod, container, memoryCapacityBytes),
    ...(placement?.cpus !== undefined && { cpusetCpus: placement.cpus }),
    ...(placement?.mems !== undefined && { cpusetMems: placement.mems }),
    ...ruledResources(pod, container, memoryCapacityBytes, rules),
  };
}

export interface PodResourceContext {
  readonly rules?: ResourceRules | undefined;
  /** A container of it has CPUs for itself. */
  readonly hasExclusiveCpus?: boolean | undefined;
}

/** The limits of the Pod's cgroup: there is one only if every container has one. */
export function podResources(
  pod: core.Pod,
  { rules = PLAIN_RULES, hasExclusiveCpus = false }: PodResourceContext = {},
): LinuxResources {
  const requests = podRequests(pod);
  const limits = podLimits(pod);
  const { containers = [], initContainers = [], resources } = pod.spec ?? {};
  const all = [...containers, ...initContainers];
  const limited = (name: "cpu" | "memory") =>
    resources?.limits?.[name] !== undefined || all.every((each) => milli(each.resources?.limits?.[name]) > 0);
  const memory = limited("memory") ? Number(amount(limits, "memory", 0)) : 0;
  return {
    cpuShares: cpuShares(Number(amount(requests, "cpu", -3))),
    ...(rules.cpuQuota &&
      !hasExclusiveCpus &&
      limited("cpu") &&
      cpuQuota(Number(amount(limits, "cpu", -3)), rules.cpuPeriodUs)),
    ...(memory > 0 && { memoryLimitBytes: memory }),
  };
}

function oomScore(pod: core.Pod, container: AnyContainer, capacity: number): number {
  if ((pod.spec?.priority ?? 0) >= CRITICAL_PRIORITY) return GUARANTEED_SCORE;
  const qos = qosClassOf(pod);
  if (qos === "Guaranteed") return GUARANTEED_SCORE;
  if (qos === "BestEffort") return BEST_EFFORT_SCORE;
  const own = burstableScore(bytes(container.resources?.requests?.memory), capacity);
  if (!isSidecar(container)) return own;
  // A sidecar is not OOM-killed before the containers that depend on it.
  const others = (pod.spec?.containers ?? []).map((each) =>
    burstableScore(bytes(each.resources?.requests?.memory), capacity),
  );
  return Math.min(own, ...others);
}

function burstableScore(requestBytes: number, capacity: number): number {
  const score = 1000 - Math.floor((1000 * requestBytes) / Math.max(1, capacity));
  return Math.min(BEST_EFFORT_SCORE - 1, Math.max(1000 + GUARANTEED_SCORE, score));
}

function amount(totals: Totals, name: string, scale: number): bigint {
  const value = totals[name];
  return value === undefined ? 0n : scaledValue(value, scale);
}

function milli(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(scaledValue(parseQuantity(quantity), -3));
}

function bytes(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(scaledValue(parseQuantity(quantity), 0));
}
