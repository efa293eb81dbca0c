/**
 * One step of a DaemonSet's rolling update, once every node has its Pods.
 *
 *     maxSurge 0    delete old Pods, at most `maxUnavailable` nodes without an available Pod; new ones follow
 *     maxSurge      create new Pods beside old ones, on at most that many nodes; delete an old one when its new one is
 *                   available
 *
 * An unavailable old Pod is replaced regardless of the limits.
 */
import { scaledIntOrString } from "#api";
import { isAvailable, isEnding, type Pod } from "../pods/index.ts";
import { type DaemonSet, isUpdated, nameOf } from "./daemon-pod.ts";
import type { Facts } from "./place.ts";

export interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/**
 * Percentages refer to the nodes that should run a Pod, and are rounded up. If both limits are 0, maxUnavailable is 1.
 */
export function limitsOf({ spec }: DaemonSet, desired: number): Limits {
  if (!isRolling(spec?.updateStrategy?.type)) return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 1 } = spec?.updateStrategy?.rollingUpdate ?? {};
  const surge = scaledIntOrString(maxSurge, desired, "up");
  const unavailable = scaledIntOrString(maxUnavailable, desired, "up");
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function isRolling(type: string | undefined): boolean {
  return (type ?? "RollingUpdate") === "RollingUpdate";
}

export interface Step {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
}

interface OnNode {
  readonly node: string;
  /** Several Pods of one generation are handled by `place.ts`. */
  readonly unclear: boolean;
  readonly fresh: Pod | undefined;
  readonly old: Pod | undefined;
}

export function rollingStep(facts: Facts): Step {
  const { nodes, fitOf, set } = facts;
  const desired = nodes.filter((node) => fitOf(node).runs).map(nameOf);
  const limits = limitsOf(set, desired.length);
  const all = [...new Set([...desired, ...facts.byNode.keys()])].map((node) => onNode(facts, node));
  return limits.maxSurge === 0
    ? replaceOld(facts, all, limits.maxUnavailable)
    : surge(facts, all, new Set(desired), limits.maxSurge);
}

function onNode({ byNode, set, hash }: Facts, node: string): OnNode {
  const staying = (byNode.get(node) ?? []).filter((pod) => !isEnding(pod));
  const fresh = staying.filter((pod) => isUpdated(set, pod, hash));
  const old = staying.filter((pod) => !isUpdated(set, pod, hash));
  return { node, unclear: fresh.length > 1 || old.length > 1, fresh: fresh[0], old: old[0] };
}

function replaceOld(facts: Facts, all: readonly OnNode[], maxUnavailable: number): Step {
  const available = availability(facts);
  const outdated: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { unclear, fresh, old } of all) {
    if (unclear || (old === undefined) === (fresh === undefined)) unavailable += 1;
    else if (fresh !== undefined) unavailable += available(fresh) ? 0 : 1;
    else if (old !== undefined) {
      if (available(old)) candidates.push(old);
      else {
        outdated.push(old);
        unavailable += 1;
      }
    }
  }
  const allowed = Math.max(0, maxUnavailable - unavailable);
  return { create: [], delete: [...outdated, ...candidates.slice(0, allowed)] };
}

function surge(facts: Facts, all: readonly OnNode[], desired: ReadonlySet<string>, maxSurge: number): Step {
  const available = availability(facts);
  const replaced: Pod[] = [];
  const needed: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const { node, unclear, fresh, old } of all) {
    if (unclear) surging += 1;
    else if (old === undefined) continue;
    else if (fresh !== undefined) {
      if (available(fresh)) replaced.push(old);
      else surging += 1;
    } else if (!desired.has(node)) replaced.push(old);
    else if (available(old)) candidates.push(node);
    else needed.push(node);
  }
  const allowed = Math.max(0, maxSurge - surging);
  return { create: [...needed, ...candidates.slice(0, allowed)], delete: replaced };
}

function availability({ set, now }: Facts): (pod: Pod) => boolean {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  return (pod) => isAvailable(pod, minReadySeconds, now);
}
