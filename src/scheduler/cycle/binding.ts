/**
 * From a decision to a pod that is bound: goes on beside the attempts that follow.
 *
 *     promise ══► permit's wait ──► preBind ──► bind ══► API server ──► postBind, event
 *                      └───────────────┴──────────┴ failed: unreserve, forget, back to the queue
 *
 * 1. Until it is over, the pod counts as being on its node. Where it may take its time, the pod's status says which node that will be.
 * 2. Where nobody knows whether the API server has bound it (no answer), it is asked before the node is given to others.
 */
import { type core, isStatusError } from "#api";
import { Backoff, isAbort } from "#base";
import {
  type Filtered,
  isRejection,
  type Plugin,
  type Rejection,
  type Stages,
  type Verdict,
} from "../framework/index.ts";
import { Pod } from "../kinds.ts";
import type { Failure, QueuedPod } from "../queue/index.ts";
import { rejectedAlone } from "./diagnosis.ts";
import { type FailedAttempt, handleFailure, isRefusal, messageOf } from "./failures.ts";
import { attemptsLabel } from "./metrics.ts";
import type { Parts } from "./parts.ts";
import { patchStatus } from "./pod-status.ts";
import type { SlowBinding } from "./waiting-pods.ts";

/** Nobody's events are waited for. */
const TRY_AGAIN: Failure = { kind: "rejected", rejectors: new Set(), pending: new Set() };
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 10_000;

export interface Placement {
  readonly queued: QueuedPod;
  readonly stages: Stages;
  readonly filtered: Filtered;
  readonly node: string;
  readonly startedMs: number;
  /** Plugins that want it to wait, and for how long at most. */
  readonly waits: ReadonlyMap<string, number>;
}

/** What a plugin's filter has prepared for the pod. */
export function stateOf({ stages, filtered }: Pick<Placement, "stages" | "filtered">, plugin: Plugin): unknown {
  const clusterAt = stages.clusterFilters.findIndex((use) => use.plugin === plugin);
  const nodeAt = stages.nodeFilters.findIndex((use) => use.plugin === plugin);
  const prepared = clusterAt === -1 ? filtered.memo.filters[nodeAt] : filtered.prepared[clusterAt];
  return prepared?.kind === "ready" ? prepared.state : undefined;
}

export async function bindPod(parts: Parts, placement: Placement): Promise<void> {
  const { waiting, signal } = parts;
  if (!mayTakeTime(placement)) return bindOrGiveUp(parts, placement, undefined);
  const slow = waiting.begin(placement.queued.pod, placement.waits, signal);
  try {
    await promise(parts, placement);
    await bindOrGiveUp(parts, placement, slow);
  } finally {
    waiting.end(slow);
  }
}

async function bindOrGiveUp(parts: Parts, placement: Placement, slow: SlowBinding | undefined): Promise<void> {
  const { signal } = parts;
  const promised = slow === undefined ? undefined : placement.node;
  try {
    const refused = await refusedBefore(parts, placement, slow);
    if (refused !== undefined) {
      undo(parts, placement);
      const failure = slow?.preempted === undefined ? rejected(refused) : TRY_AGAIN;
      giveUp(parts, placement, { failure, message: rejectedAlone(refused), promised });
      return;
    }
    await bind(parts, placement);
  } catch (error) {
    if (isAbort(error, signal)) return;
    if (!isRefusal(error) && (await isBoundAfterAll(parts, placement))) {
      succeed(parts, placement);
      return;
    }
    undo(parts, placement);
    giveUp(parts, placement, { failure: { kind: "error" }, message: messageOf(error), promised });
    return;
  }
  succeed(parts, placement);
}

function mayTakeTime(placement: Placement): boolean {
  const { stages, waits } = placement;
  if (waits.size > 0) return true;
  return stages.preBind.some((plugin) => plugin.needsPreBind?.(stateOf(placement, plugin)) ?? true);
}

/** So that others, such as autoscalers, know of it. Nothing depends on it. */
async function promise({ client, clock, signal, log }: Parts, { queued, node }: Placement): Promise<void> {
  const { pod } = queued;
  try {
    await patchStatus(client, clock, pod, { nominatedNodeName: node }, signal);
  } catch (error) {
    if (!isAbort(error, signal))
      log.warn("a pod's node could not be told before it is bound", { pod: pod.key, node, error });
  }
}

async function refusedBefore(
  parts: Parts,
  placement: Placement,
  slow: SlowBinding | undefined,
): Promise<Rejection | undefined> {
  const { stages, queued, node } = placement;
  if (slow === undefined) return undefined;
  const permitted = await slow.permitted;
  if (isRejection(permitted)) return permitted;
  for (const plugin of stages.preBind) {
    let verdict: Verdict | undefined;
    try {
      verdict = await plugin.preBind?.(stateOf(placement, plugin), queued.pod, node, slow.signal);
    } catch (error) {
      if (slow.preempted !== undefined && !parts.signal.aborted) return slow.preempted;
      throw faultOf("PreBind", plugin, error);
    }
    if (verdict !== undefined && isRejection(verdict)) return verdict;
    if (slow.preempted !== undefined) return slow.preempted;
  }
  slow.commit();
  return undefined;
}

async function bind(parts: Parts, { stages, queued, node }: Placement): Promise<void> {
  const { pod, wokenBy } = queued;
  for (const extender of parts.extenders) {
    if (extender.bind === undefined || !extender.isInterested(pod)) continue;
    try {
      await extender.bind(pod, node, parts.signal);
      return;
    } catch (error) {
      if (!extender.ignorable || isAbort(error, parts.signal)) throw error;
      parts.log.warn("an extender that may be ignored failed to bind", {
        extender: extender.name,
        pod: pod.key,
        error,
      });
    }
  }
  for (const plugin of stages.bind) {
    try {
      if ((await plugin.bind?.(pod, node, parts.signal, wokenBy)) === "bound") return;
    } catch (error) {
      throw faultOf("Bind", plugin, error);
    }
  }
  throw new Error(`no plugin binds the pod ${pod.key}`);
}

/** In the original's words. */
function faultOf(stage: "PreBind" | "Bind", { name }: Plugin, cause: unknown): Error {
  return new Error(`running ${stage} plugin "${name}": ${messageOf(cause)}`, { cause });
}

function succeed(parts: Parts, placement: Placement): void {
  const { queue, metrics, clock, events } = parts;
  const { stages, queued, node, startedMs } = placement;
  const { pod } = queued;
  for (const plugin of stages.postBind) plugin.postBind?.(stateOf(placement, plugin), pod, node);
  const now = clock.monotonic();
  metrics.attempts.labels("scheduled", stages.schedulerName).inc();
  metrics.attemptSeconds.labels("scheduled", stages.schedulerName).observe((now - startedMs) / 1000);
  metrics.podAttempts.labels().observe(queued.attempts);
  metrics.podSeconds.labels(attemptsLabel(queued.attempts)).observe((now - queued.sinceMs) / 1000);
  queue.done(pod.uid);
  events(stages.schedulerName).record({
    about: pod.pod,
    type: "Normal",
    reason: "Scheduled",
    action: "Binding",
    note: `Successfully assigned ${pod.namespace}/${pod.name} to ${node}`,
  });
}

/** The node is free again. */
function undo({ state }: Parts, placement: Placement): void {
  const { stages, queued, node } = placement;
  for (const plugin of stages.reserve.toReversed()) plugin.unreserve?.(stateOf(placement, plugin), queued.pod, node);
  state.forget(queued.pod.uid);
}

type Fault = Pick<FailedAttempt, "failure" | "message" | "promised">;

function giveUp(parts: Parts, { queued, stages, node, startedMs }: Placement, fault: Fault): void {
  const { pod } = queued;
  const { failure, message } = fault;
  if (failure.kind === "error") parts.log.warn("a pod could not be bound", { pod: pod.key, node, message });
  handleFailure(parts, { queued, schedulerName: stages.schedulerName, ...fault, nominate: "", startedMs });
  // As if it had been there and had been deleted: what it took may fit others.
  const old: core.Pod = { ...pod.pod, spec: { containers: [], ...pod.pod.spec, nodeName: node } };
  parts.queue.event({ resource: "AssignedPod", action: "delete", old }, ({ uid }) => uid !== pod.uid);
}

function rejected({ plugin, kind }: Rejection): Failure {
  return { kind: "rejected", rejectors: new Set([plugin]), pending: new Set(kind === "pending" ? [plugin] : []) };
}

/** Asks until there is an answer. */
async function isBoundAfterAll(
  { client, clock, random, signal }: Parts,
  { queued, node }: Placement,
): Promise<boolean> {
  const { namespace, name, uid } = queued.pod;
  const backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 }, random);
  for (;;) {
    try {
      const { metadata, spec } = await client.of(Pod).in(namespace).get(name, { signal });
      return metadata.uid === uid && spec?.nodeName === node;
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") return false;
      if (isAbort(error, signal)) throw error;
      await clock.sleep(backoff.next(), signal);
    }
  }
}
