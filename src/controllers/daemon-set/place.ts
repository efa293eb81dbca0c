/**
 * Which nodes of a DaemonSet need a Pod, and which Pods have to be deleted.
 *
 *     should run, has none          create
 *     may stay, has several         delete all but the oldest; while surging, an old and a new one may coexist
 *     may stay, failed              delete and replace, with backoff
 *     may not stay                  delete
 */
import type { RecordedEvent } from "#client";
import { isAvailable, isEnding, isReady, type Pod } from "../pods/index.ts";
import { type DaemonSet, isUpdated, nameOf } from "./daemon-pod.ts";
import type { Fit, Node } from "./node-fit.ts";

export interface Placement {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
  readonly events: readonly RecordedEvent[];
  /** Nodes whose failed Pod is deleted. */
  readonly failed: readonly string[];
  /** Time until a failed Pod may be deleted. */
  readonly waitsMs: readonly number[];
}

export interface Facts {
  readonly set: DaemonSet;
  readonly hash: string;
  readonly nodes: readonly Node[];
  readonly byNode: ReadonlyMap<string, readonly Pod[]>;
  fitOf(node: Node): Fit;
  /** How long a failed Pod on this node has to stay. */
  failureWaitMs(node: string): number;
  readonly surges: boolean;
  readonly now: number;
}

export function placementOf(facts: Facts): Placement {
  const { nodes, byNode, fitOf } = facts;
  const parts = nodes.map((node) => placementOn(facts, node, fitOf(node), byNode.get(nameOf(node))));
  const known = new Set(nodes.map(nameOf));
  // No scheduler places these Pods, and nobody else deletes them.
  const stranded = [...byNode]
    .filter(([node]) => !known.has(node))
    .flatMap(([, pods]) => pods.filter((pod) => (pod.spec?.nodeName ?? "") === "" && !isEnding(pod)));
  return {
    create: parts.flatMap(({ create = [] }) => create),
    delete: [...parts.flatMap((part) => part.delete ?? []), ...stranded],
    events: parts.flatMap(({ events = [] }) => events),
    failed: parts.flatMap(({ failed = [] }) => failed),
    waitsMs: parts.flatMap(({ waitsMs = [] }) => waitsMs),
  };
}

function placementOn(
  facts: Facts,
  node: Node,
  { runs, stays }: Fit,
  pods: readonly Pod[] | undefined,
): Partial<Placement> {
  const name = nameOf(node);
  if (pods === undefined) return runs ? { create: [name] } : {};
  const staying = pods.filter((pod) => !isEnding(pod));
  if (!stays) return { delete: staying };
  const failed = staying.filter(({ status }) => status?.phase === "Failed");
  const succeeded = staying.filter(({ status }) => status?.phase === "Succeeded");
  const running = staying.filter((pod) => !failed.includes(pod) && !succeeded.includes(pod));
  const waitMs = failed.length > 0 ? facts.failureWaitMs(name) : 0;
  const replaced = waitMs > 0 ? [] : failed;
  const surplus = facts.surges ? surplusWhileSurging(facts, running) : running.slice(1);
  return {
    create: facts.surges && running.length === 0 && runs ? [name] : [],
    delete: [...replaced, ...succeeded, ...surplus],
    events: [
      ...replaced.map((pod) => endedEvent(facts.set, pod, name, "failed")),
      ...succeeded.map((pod) => endedEvent(facts.set, pod, name, "succeeded")),
    ],
    failed: replaced.length > 0 ? [name] : [],
    waitsMs: waitMs > 0 ? [waitMs] : [],
  };
}

/** While surging, the oldest new and old Pod coexist until the new one is available or the old one is not ready. */
function surplusWhileSurging({ set, hash, now }: Facts, running: readonly Pod[]): readonly Pod[] {
  if (running.length < 2) return [];
  const fresh = running.find((pod) => isUpdated(set, pod, hash));
  const old = running.find((pod) => !isUpdated(set, pod, hash));
  const others = running.filter((pod) => pod !== fresh && pod !== old);
  if (fresh === undefined || old === undefined) return others;
  const isReplaced = !isReady(old) || isAvailable(fresh, set.spec?.minReadySeconds ?? 0, now);
  return isReplaced ? [...others, old] : others;
}

function endedEvent(about: DaemonSet, { metadata }: Pod, node: string, how: "failed" | "succeeded"): RecordedEvent {
  const will = how === "failed" ? "will try to kill it" : "will try to delete it";
  return {
    about,
    type: how === "failed" ? "Warning" : "Normal",
    reason: how === "failed" ? "FailedDaemonPod" : "SucceededDaemonPod",
    note: `Found ${how} daemon pod ${metadata.namespace}/${metadata.name} on node ${node}, ${will}`,
  };
}
