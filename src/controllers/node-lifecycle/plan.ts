/**
 * What is next for a node, and for the zones that nodes are in.
 *
 *     planNode    silent for too long ══► its conditions are Unknown, its Pods are not ready
 *                 else                ══► its taints and labels say what its conditions say
 *     planZones   down, and its zone allows it ══► its Pods are driven out, one node after the other
 *                 everything is down           ══► nobody's are
 *
 * 1. A run writes a Node once: what else there is to write follows when the cache shows the first.
 * 2. Taints are written as a whole, and only if nobody has changed the Node meanwhile.
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
  /** For how long nothing has been heard of it. */
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
      told: (write, { ok }) => {
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
    told: (write, { ok }) => (ok && write.resource === kinds.Pod ? podNotReady(write) : undefined),
    ...again,
  };
}

export interface ZoneFacts {
  readonly nodes: readonly Node[];
  /** When each zone was last allowed something. */
  readonly allowedMs: ReadonlyMap<string, number>;
  /** By the same clock. */
  readonly nowMs: number;
}

export interface ZonePlan {
  /** Whose Pods are driven out now. */
  readonly evict: readonly Node[];
  /** Whose are to stay after all. */
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

/** Whether a node is down, and those who do not tolerate it have not been told. */
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

/** Those of a node of which nothing is known: nobody else would say so. */
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

/** Who went down first. */
function byTransition(a: Node, b: Node): number {
  const time = (node: Node) => condition(node, "Ready")?.lastTransitionTime ?? "";
  const [first, second] = [`${time(a)} ${a.metadata.name}`, `${time(b)} ${b.metadata.name}`];
  return first < second ? -1 : 1;
}

/** What zones look at. */
export function zoneFactsOf(node: Node): string {
  return [zoneOf(node), isExcluded(node), readiness(node) ?? "", hasNoExecute(node)].join(" ");
}
