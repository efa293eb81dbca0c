/**
 * What a node adds to the resources of every container: quality of service of memory, swap, huge pages, and processes
 * that are killed together. Pure.
 */
import { type core, parseQuantity, qosClassOf, scaledValue } from "#api";
import type { LinuxResources } from "../runtime/runtime.ts";
import type { AnyContainer } from "./names.ts";

export interface ResourceRules {
  readonly cgroupVersion: 1 | 2;
  /** CPU limits are enforced. */
  readonly cpuQuota: boolean;
  readonly cpuPeriodUs: number;
  /** Of cgroup v2: processes of a container are not killed together when its memory is full. */
  readonly singleProcessOomKill: boolean;
  /** Undefined: the feature gate MemoryQoS is off. */
  readonly memoryQos?: MemoryQos | undefined;
  /** Undefined: the machine's kernel does not count swap. */
  readonly swap?: SwapRules | undefined;
  /** The sizes of huge pages that the machine has, in KiB. */
  readonly hugePageKib: readonly number[];
}

export interface MemoryQos {
  readonly throttlingFactor: number;
  readonly reservation: "None" | "TieredReservation";
  readonly allocatableBytes: number;
}

export interface SwapRules {
  readonly behavior: "NoSwap" | "LimitedSwap";
  readonly totalBytes: number;
}

export const PLAIN_RULES: ResourceRules = {
  cgroupVersion: 1,
  cpuQuota: true,
  cpuPeriodUs: 100_000,
  singleProcessOomKill: true,
  hugePageKib: [],
};

const CRITICAL_PRIORITY = 2_000_000_000;
const PAGE_BYTES = 4096;

export function ruledResources(
  pod: core.Pod,
  container: AnyContainer,
  memoryCapacityBytes: number,
  rules: ResourceRules,
): Pick<LinuxResources, "unified" | "hugepageLimits" | "memorySwapLimitBytes"> {
  const { cgroupVersion, singleProcessOomKill, hugePageKib, swap } = rules;
  const limitBytes = amountOf(container.resources?.limits?.memory);
  const unified: Record<string, string> = {};
  if (cgroupVersion === 2) {
    if (!singleProcessOomKill) unified["memory.oom.group"] = "1";
    Object.assign(unified, memoryProtection(pod, container, rules));
    if (swap !== undefined) unified["memory.swap.max"] = String(swapBytes(pod, container, memoryCapacityBytes, swap));
  }
  return {
    ...(Object.keys(unified).length > 0 && { unified }),
    // On v1 the limit is that of memory and swap together: no swap.
    ...(cgroupVersion === 1 && swap !== undefined && limitBytes > 0 && { memorySwapLimitBytes: limitBytes }),
    ...(hugePageKib.length > 0 && { hugepageLimits: hugePageLimits(container, hugePageKib) }),
  };
}

/** Swap in proportion to the memory that it asks for; none for what must not be slow, or asked for nothing. */
export function swapBytes(
  pod: core.Pod,
  { resources }: AnyContainer,
  memoryCapacityBytes: number,
  { behavior, totalBytes }: SwapRules,
): number {
  const request = amountOf(resources?.requests?.memory ?? resources?.limits?.memory);
  const isCritical = (pod.spec?.priority ?? 0) >= CRITICAL_PRIORITY;
  const isFixed = request === amountOf(resources?.limits?.memory);
  if (behavior === "NoSwap" || qosClassOf(pod) !== "Burstable" || request === 0 || isFixed || isCritical) return 0;
  if (memoryCapacityBytes === 0 || request > memoryCapacityBytes) return 0;
  return Math.trunc((request / memoryCapacityBytes) * totalBytes);
}

function memoryProtection(pod: core.Pod, { resources }: AnyContainer, { memoryQos }: ResourceRules) {
  if (memoryQos === undefined) return {};
  const { throttlingFactor, reservation, allocatableBytes } = memoryQos;
  const limit = amountOf(resources?.limits?.memory);
  const request = resources?.requests?.memory === undefined ? limit : amountOf(resources.requests.memory);
  const files: Record<string, string> = {};
  const qos = qosClassOf(pod);
  if (reservation === "TieredReservation" && request > 0)
    files[qos === "Guaranteed" ? "memory.min" : "memory.low"] = String(request);
  if (request === limit && limit > 0) return files;
  const most = limit > 0 ? limit : allocatableBytes;
  const high = Math.floor((request + throttlingFactor * (most - request)) / PAGE_BYTES) * PAGE_BYTES;
  if (high > request) files["memory.high"] = String(high);
  return files;
}

/** A container without huge pages of a size that the machine has may use none of them. */
export function hugePageLimits({ resources }: AnyContainer, sizesKib: readonly number[]) {
  return sizesKib.map((kib) => ({
    pageSize: pageSizeText(kib),
    limit: amountOf(resources?.limits?.[pageResource(kib)]),
  }));
}

/** As runtimes and cgroups name it: 2MB. */
export function pageSizeText(kib: number): string {
  const [size, unit] = scaled(kib);
  return `${size}${unit}B`;
}

/** hugepages-2Mi. */
function pageResource(kib: number): string {
  const [size, unit] = scaled(kib);
  return `hugepages-${size}${unit}i`;
}

function scaled(kib: number): readonly [number, string] {
  if (kib % 1024 ** 2 === 0) return [kib / 1024 ** 2, "G"];
  return kib % 1024 === 0 ? [kib / 1024, "M"] : [kib, "K"];
}

function amountOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(scaledValue(parseQuantity(quantity), 0));
}
