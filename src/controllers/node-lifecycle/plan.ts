/**
 * The next writes for a node, and for zones.
 *
 *     planNode    silent for too long ══► its conditions become Unknown, its Pods not ready
 *                 else                ══► its taints and labels follow from its conditions
 *     planZones   down, and its zone allows it ══► its Pods are evicted, one node after the other
 *                 all zones are down           ══► no evictions
 *
 * 1. A run writes a Node once: the rest follows when the cache shows the first write.
 * 2. Taints are written as a whole, with a precondition on resourceVersion.
 */
import { formatTime, instantOf, type JsonObject, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import { condition, type Node, readiness, silentConditions } from "./conditions.ts";
import { correctedLabels } from "./labels.ts";
import type { NodeLifecycleSettings } from "./settings.ts";
import { correctedTaints, hasNoExecute, noExecuteKey, withNoExecute, withoutNoExecute } from "./taints.ts";
import { allDisrupted, evictionRate, isExcluded, zoneOf, zonesOf } from "./zones.ts";

export interface NodeFacts {
  /** How long the node has been silent. */
  readonly silentMs: number;
  readonly pods: readonly Pod[];
}

export function planNode(
  node: Node,
  { silentMs, pods }: NodeFacts,
  settings: NodeLifecycleSettings,
  now: number,
): Plan {
  const ready = condition(node, "Ready");
  const leftMs = (ready === undefined ? settings.startupGraceMs : settings.monitorGraceMs) - silentMs;
  const conditions = leftMs > 0 ? undefined : silentConditions(node, now);
  if (conditions !== undefined) {
    const object: Node = { ...node, status: { ...node.status, conditions } };
    return {
      steps: [[{ verb: "updateStatus", resource: kinds.Node, object }], notReadyPods(pods, now)],
      eventFor: (write, { ok }) => {
        if (!ok) return undefined;
        if (write.resource === kinds.Pod) return podNotReady(write);
        return ready?.status === "True" ? statusChange(node, "NodeNotReady") : undefined;
      },
    };
  }
  const again = leftMs > 0 ? { againAfterMs: leftMs } : {};
  const unheard = ready?.status === "Unknown" ? notReadyPods(pods, now) : [];
  const correction = correctionOf(node, now);
  if (unheard.length === 0 && correction === undefined) return again;
  return {
    steps: [[...(correction === undefined ? [] : [correction]), ...unheard]],
    eventFor: (write, { ok }) => (ok && write.resource === kinds.Pod ? podNotReady(write) : undefined),
    ...again,
  };
}

export interface ZoneFacts {
  readonly nodes: readonly Node[];
  /** The last eviction of each zone. */
  readonly allowedMs: ReadonlyMap<string, number>;
  /** By the same clock. */
  readonly nowMs: number;
}

export interface ZonePlan {
  /** Nodes whose Pods are evicted now. */
  readonly evict: readonly Node[];
  /** Nodes whose evictions are cancelled. */
  readonly spare: readonly Node[];
  readonly againAfterMs?: number;
}

export function planZones({ nodes, allowedMs, nowMs }: ZoneFacts, settings: NodeLifecycleSettings): ZonePlan {
  const zones = zonesOf(nodes);
  if (allDisrupted(zones, settings)) return { evict: [], spare: nodes.filter(hasNoExecute) };
  const waiting = Map.groupBy(nodes.filter(isWaiting), zoneOf);
  const evict: Node[] = [];
  const waits: number[] = [];
  for (const [key, queue] of waiting) {
    const rate = evictionRate(zones.get(key) ?? { ready: 0, down: 0 }, settings);
    if (rate <= 0) continue;
    const everyMs = 1000 / rate;
    const inMs = (allowedMs.get(key) ?? Number.NEGATIVE_INFINITY) + everyMs - nowMs;
    const [first] = queue.sort(byTransition);
    if (inMs > 0) waits.push(inMs);
    else if (first !== undefined) {
      evict.push(first);
      if (queue.length > 1) waits.push(everyMs);
    }
  }
  return { evict, spare: [], ...(waits.length > 0 && { againAfterMs: Math.min(...waits) }) };
}

export function writesOf({ evict, spare }: ZonePlan, now: number): readonly Write[] {
  return [
    ...evict.map((node) => taintsWrite(node, withNoExecute(node, now))),
    ...spare.map((node) => taintsWrite(node, withoutNoExecute(node))),
  ];
}

/** Whether a node is down and does not have its NoExecute taint yet. */
export function isWaiting(node: Node): boolean {
  return noExecuteKey(node) !== undefined && !hasNoExecute(node);
}

export function statusChange(about: Node, status: string): RecordedEvent {
  const note = `Node ${about.metadata.name} status is now: ${status}`;
  return { about, type: "Normal", reason: status, note };
}

export function nodeEvent(about: Node, reason: string, what: string): RecordedEvent {
  return { about, type: "Normal", reason, note: `Node ${about.metadata.name} event: ${what}` };
}

/** Pods of a silent node become unready: the kubelet cannot report it. */
function notReadyPods(pods: readonly Pod[], now: number): readonly Write[] {
  return pods.flatMap((pod) => {
    const conditions = pod.status?.conditions ?? [];
    if (!conditions.some(({ type, status }) => type === "Ready" && status !== "False")) return [];
    const { generation } = pod.metadata;
    const changed = conditions.map((each) =>
      each.type !== "Ready"
        ? each
        : {
            ...each,
            status: "False",
            lastTransitionTime: formatTime(instantOf(now)),
            ...(generation !== undefined && { observedGeneration: generation }),
          },
    );
    const object: Pod = { ...pod, status: { ...pod.status, conditions: changed } };
    return [{ verb: "updateStatus", resource: kinds.Pod, object } as const];
  });
}

function podNotReady({ object }: Write): RecordedEvent {
  return { about: object, type: "Warning", reason: "NodeNotReady", note: "Node is not ready" };
}

function correctionOf(node: Node, now: number): Write | undefined {
  const taints = correctedTaints(node, now);
  const labels = correctedLabels(node);
  if (taints === undefined && labels === undefined) return undefined;
  return nodePatch(node, {
    ...(labels !== undefined && { metadata: { labels } }),
    ...(taints !== undefined && { spec: { taints: taints.length === 0 ? null : taints } }),
  } as JsonObject);
}

function taintsWrite(node: Node, taints: readonly object[]): Write {
  return nodePatch(node, { spec: { taints: taints.length === 0 ? null : taints } } as unknown as JsonObject);
}

function nodePatch(object: Node, patch: JsonObject): Write {
  const { resourceVersion = "" } = object.metadata;
  const metadata = { ...(patch.metadata as JsonObject | undefined), resourceVersion };
  return { verb: "patch", resource: kinds.Node, object, type: "merge", patch: { ...patch, metadata } };
}

/** The node that went down first. */
function byTransition(a: Node, b: Node): number {
  const time = (node: Node) => condition(node, "Ready")?.lastTransitionTime ?? "";
  const [first, second] = [`${time(a)} ${a.metadata.name}`, `${time(b)} ${b.metadata.name}`];
  return first < second ? -1 : 1;
}

/** The parts of a Node that zones depend on. */
export function zoneFactsOf(node: Node): string {
  return [zoneOf(node), isExcluded(node), readiness(node) ?? "", hasNoExecute(node)].join(" ");
}
