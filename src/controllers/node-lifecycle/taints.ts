/**
 * The taints that follow from a node's conditions.
 *
 *     NoSchedule   for each bad condition, and for cordoned nodes: at once
 *     NoExecute    for Ready only: False is not-ready, Unknown is unreachable, never both. Zones grant the first one,
 *                  because it evicts Pods; it changes into the other at once, and is removed at once when the node is
 *                  ready
 */

import { type core, formatTime, instantOf } from "#api";
import { table } from "#base";
import { type Node, readiness } from "./conditions.ts";

type Taint = core.Taint;

const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

const BY_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = table({
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: "node.kubernetes.io/memory-pressure" },
  DiskPressure: { True: "node.kubernetes.io/disk-pressure" },
  NetworkUnavailable: { True: "node.kubernetes.io/network-unavailable" },
  PIDPressure: { True: "node.kubernetes.io/pid-pressure" },
});
const NO_SCHEDULE = new Set([UNSCHEDULABLE, ...Object.values(BY_CONDITION).flatMap((keys) => Object.values(keys))]);

/** Undefined if the node has the right taints. */
export function correctedTaints(node: Node, now: number): readonly Taint[] | undefined {
  const taints = node.spec?.taints ?? [];
  const wanted = new Set([...noScheduleKeys(node)].map((key) => nameOf({ key, effect: "NoSchedule" })));
  const drives = noExecuteKey(node);
  if (drives !== undefined && hasNoExecute(node)) wanted.add(nameOf({ key: drives, effect: "NoExecute" }));
  const kept = taints.filter((taint) => !isOurs(taint, node) || wanted.has(nameOf(taint)));
  const there = new Set(kept.map(nameOf));
  const missing = [...wanted].filter((name) => !there.has(name));
  if (kept.length === taints.length && missing.length === 0) return undefined;
  return [...kept, ...missing.map((name) => added(name, now))];
}

/** Adds the NoExecute taint for the node's state. */
export function withNoExecute(node: Node, now: number): readonly Taint[] {
  const key = noExecuteKey(node);
  const others = (node.spec?.taints ?? []).filter((taint) => !drivesOut(taint));
  return key === undefined ? others : [...others, added(nameOf({ key, effect: "NoExecute" }), now)];
}

export function withoutNoExecute(node: Node): readonly Taint[] {
  return (node.spec?.taints ?? []).filter((taint) => !drivesOut(taint));
}

export function hasNoExecute({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(drivesOut);
}

/** The NoExecute taint for a node's state. */
export function noExecuteKey(node: Node): string | undefined {
  return BY_CONDITION.Ready?.[readiness(node) ?? ""];
}

function noScheduleKeys({ spec, status }: Node): ReadonlySet<string> {
  const keys = (status?.conditions ?? []).flatMap(({ type, status }) => BY_CONDITION[type]?.[status] ?? []);
  return new Set(spec?.unschedulable === true ? [...keys, UNSCHEDULABLE] : keys);
}

/** Whether the NoExecute taint matches a reported condition: without a report, nothing is evicted or cancelled. */
function isOurs(taint: Taint, node: Node): boolean {
  if (taint.effect === "NoSchedule") return NO_SCHEDULE.has(taint.key);
  return drivesOut(taint) && readiness(node) !== undefined;
}

function drivesOut({ key, effect }: Taint): boolean {
  return effect === "NoExecute" && (key === NOT_READY || key === UNREACHABLE);
}

function nameOf({ key, effect }: Taint): string {
  return `${effect} ${key}`;
}

function added(name: string, now: number): Taint {
  const [effect = "", key = ""] = name.split(" ");
  return { key, effect: effect as Taint["effect"], timeAdded: formatTime(instantOf(now)) };
}
