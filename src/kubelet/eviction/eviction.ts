/**
 * Which Pod is evicted when a node runs low on a resource. Pure.
 *
 * 1. Pods that exceed their request go first; then those of lower priority; then those that exceed their request most.
 * 2. Critical Pods are never evicted.
 */

import { type core, podRequests, scaledValue } from "#api";
import { table } from "#base";
import type { DiskFree, MachineUsage } from "../host/index.ts";
import type { Pressure } from "../node/index.ts";

export interface Shortage {
  readonly signal: string;
  readonly pressure: Pressure;
  /** The name of the resource in messages. */
  readonly resource: "memory" | "ephemeral-storage" | "inodes" | "pids";
  readonly threshold: string;
  readonly available: number;
  /** Pods end at once. */
  readonly isHard: boolean;
}

const CRITICAL_PRIORITY = 2_000_000_000;

export interface Signal {
  readonly pressure: Pressure;
  readonly resource: Shortage["resource"];
  readonly read: (usage: MachineUsage) => readonly [available: number, capacity: number];
}

type Amounts = readonly [available: number, capacity: number];

const disk = ({ diskAvailableBytes, diskBytes }: DiskFree): Amounts => [diskAvailableBytes, diskBytes];
const inodes = ({ inodesFree, inodes: all }: DiskFree): Amounts => [inodesFree, all];

export const SIGNALS: Readonly<Record<string, Signal>> = table({
  "memory.available": {
    pressure: "MemoryPressure",
    resource: "memory",
    read: ({ memoryAvailableBytes, memoryBytes }) => [memoryAvailableBytes, memoryBytes],
  },
  "nodefs.available": { pressure: "DiskPressure", resource: "ephemeral-storage", read: disk },
  "nodefs.inodesFree": { pressure: "DiskPressure", resource: "inodes", read: inodes },
  "imagefs.available": {
    pressure: "DiskPressure",
    resource: "ephemeral-storage",
    read: (usage) => disk(usage.images ?? usage),
  },
  "imagefs.inodesFree": {
    pressure: "DiskPressure",
    resource: "inodes",
    read: (usage) => inodes(usage.images ?? usage),
  },
  "pid.available": {
    pressure: "PIDPressure",
    resource: "pids",
    read: ({ processes, maxProcesses }) => [maxProcesses - processes, maxProcesses],
  },
});

export interface PodUse {
  readonly pod: core.Pod;
  /** How many bytes or processes of the resource it uses. */
  readonly used: number;
}

/** The first one is evicted first. */
export function rankForEviction(pods: readonly PodUse[], resource: Shortage["resource"]): readonly PodUse[] {
  const requested = ({ pod }: PodUse) => {
    const amount = podRequests(pod)[resource];
    return amount === undefined ? 0 : Number(scaledValue(amount, 0));
  };
  const above = (use: PodUse) => use.used - requested(use);
  const priority = ({ pod }: PodUse) => pod.spec?.priority ?? 0;
  return pods
    .filter((use) => priority(use) < CRITICAL_PRIORITY)
    .sort((a, b) => Number(above(b) > 0) - Number(above(a) > 0) || priority(a) - priority(b) || above(b) - above(a));
}

export function evictionMessage({ resource, threshold, available }: Shortage): string {
  const amount = resource === "pids" || resource === "inodes" ? String(available) : `${Math.floor(available / 1024)}Ki`;
  return `The node was low on resource: ${resource}. Threshold quantity: ${threshold}, available: ${amount}. `;
}

/** Why a node under pressure rejects a Pod. */
export function pressureProblem(pod: core.Pod, pressures: ReadonlySet<Pressure>, isBestEffort: boolean) {
  if (pressures.size === 0 || (pod.spec?.priority ?? 0) >= CRITICAL_PRIORITY) return undefined;
  const toleratesMemory = pod.spec?.tolerations?.some(
    ({ key, operator, effect }) =>
      (key === "node.kubernetes.io/memory-pressure" || (key === undefined && operator === "Exists")) &&
      (effect === undefined || effect === "NoSchedule"),
  );
  const isOnlyMemory = pressures.size === 1 && pressures.has("MemoryPressure");
  if (isOnlyMemory && (!isBestEffort || toleratesMemory === true)) return undefined;
  return { reason: "Evicted", message: `The node had condition: [${[...pressures].join(", ")}]. ` };
}
