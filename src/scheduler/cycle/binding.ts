/**
 * The binding cycle: runs in the background, concurrently with the next attempts.
 *
 *     nominate ══► wait for permit ──► preBind ──► bind ══► API server ──► postBind, event
 *                      └───────────────┴──────────┴ failed: unreserve, forget, back to the queue
 *
 * 1. Until it ends, the pod is assumed to be on its node. If it may take long, the pod's status names the node.
 * 2. If the response to a binding is lost, the API server is asked for the pod before the node's resources are
 *    released.
 */
import { type core, isStatusError, kinds } from "#api";
import { Backoff, isAbort } from "#base";
import type { Filtered } from "../evaluation/index.ts";
import { isRejection, oneNodeText, type Plugin, type Rejection, type Stages } from "../framework/index.ts";
import type { Failure, QueuedPod } from "../queue/index.ts";
import { type FailedAttempt, handleFailure, isRefusal, messageOf, type Step } from "./failures.ts";
import { attemptsLabel } from "./metrics.ts";
import { Nomination } from "./nomination.ts";
import type { Parts } from "./parts.ts";
import type { SlowBinding } from "./waiting-pods.ts";

/** Retried after its backoff, whatever events arrive. */
const TRY_AGAIN: Failure = { kind: "rejected", rejectors: new Set(), pending: new Set() };
/** A binding that takes longer names its node in the status of the Pod. */
const NOMINATED_AFTER_MS = 2000;
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 10_000;
const PENDING = Symbol("pending");
const NOT_YET = Promise.resolve(PENDING);

export interface Placement {
  readonly queued: QueuedPod;
  readonly stages: Stages;
  readonly filtered: Filtered;
  readonly node: string;
  readonly startedMs: number;
  /** Timeouts of the permit plugins that make the pod wait. */
  readonly waits: ReadonlyMap<string, number>;
}

/** The state that a plugin's filter prepared for the pod. */
export function stateOf({ stages, filtered }: Pick<Placement, "stages" | "filtered">, plugin: Plugin): unknown {
  const clusterAt = stages.clusterFilters.findIndex((use) => use.plugin === plugin);
  const nodeAt = stages.nodeFilters.findIndex((use) => use.plugin === plugin);
  const prepared = clusterAt === -1 ? filtered.memo.filters[nodeAt] : filtered.prepared[clusterAt];
  return prepared?.kind === "ready" ? prepared.state : undefined;
}

export async function bindPod(parts: Parts, placement: Placement): Promise<void> {
  const { waiting, signal } = parts;
  if (!mayTakeTime(placement)) return bindOrFail(parts, placement, undefined);
  const slow = waiting.begin(placement.queued.pod, placement.waits, signal);
  const nomination = new Nomination(parts, placement);
  try {
    // Most claims and volumes are written at once: a node that is named for milliseconds helps nobody.
    await nomination.publish(placement.waits.size > 0 ? 0 : NOMINATED_AFTER_MS);
    await bindOrFail(parts, placement, slow, nomination);
  } finally {
    await nomination.end();
    waiting.end(slow);
  }
}

function mayTakeTime(placement: Placement): boolean {
  const { stages, waits } = placement;
  if (waits.size > 0) return true;
  return stages.preBind.some((plugin) => plugin.needsPreBind?.(stateOf(placement, plugin)) ?? true);
}

async function bindOrFail(
  parts: Parts,
  placement: Placement,
  slow: SlowBinding | undefined,
  nomination?: Nomination,
): Promise<void> {
  const { signal } = parts;
  const step: Step = { point: "", plugin: "" };
  try {
    const refused = await refusedBefore(parts, placement, slow, step);
    if (refused !== undefined) {
      // At shutdown the pod is left to the next scheduler.
      if (signal.aborted) return;
      const published = await nomination?.end();
      unreserve(parts, placement);
      failBinding(parts, placement, { ...refused, published });
      return;
    }
    nomination?.stop();
    await bind(parts, placement, step);
  } catch (error) {
    if (isAbort(error, signal)) return;
    if (!isRefusal(error) && (await isBoundOnServer(parts, placement))) {
      succeed(parts, placement);
      return;
    }
    const published = await nomination?.end();
    unreserve(parts, placement);
    failBinding(parts, placement, { failure: { kind: "error" }, message: messageOf(error, step), published });
    return;
  }
  succeed(parts, placement);
}

interface Refused {
  readonly failure: Failure;
  readonly message: string;
}

async function refusedBefore(
  parts: Parts,
  placement: Placement,
  slow: SlowBinding | undefined,
  step: Step,
): Promise<Refused | undefined> {
  const barred = slow === undefined || placement.waits.size === 0 ? undefined : await refusedByPermit(parts, slow);
  if (barred !== undefined) return barred;
  parts.queue.settled(placement.queued.pod.uid);
  return placement.stages.preBind.length === 0 ? undefined : prepare(parts, placement, slow, step);
}

async function refusedByPermit(
  { metrics, clock, awaitOthers }: Parts,
  slow: SlowBinding,
): Promise<Refused | undefined> {
  const startedMs = clock.monotonic();
  const verdict = await awaitOthers(slow.permitted);
  const result = isRejection(verdict) ? "Unschedulable" : "Success";
  metrics.permitSeconds.labels(result).observe((clock.monotonic() - startedMs) / 1000);
  if (!isRejection(verdict)) return undefined;
  return { failure: slow.preempted === undefined ? rejected(verdict) : TRY_AGAIN, message: oneNodeText(verdict) };
}

/** No event wakes a pod that preBind refuses: it is retried after its backoff. */
async function prepare(
  parts: Parts,
  placement: Placement,
  slow: SlowBinding | undefined,
  step: Step,
): Promise<Refused | undefined> {
  const { stages, queued, node } = placement;
  const startedMs = parts.clock.monotonic();
  let status = "Error";
  const refused = (message: string): Refused => {
    status = "Unschedulable";
    return { failure: TRY_AGAIN, message };
  };
  try {
    for (const plugin of slow === undefined ? [] : stages.preBind) {
      if (slow === undefined || plugin.preBind === undefined) continue;
      step.point = "PreBind";
      step.plugin = plugin.name;
      const prepared = plugin.preBind(stateOf(placement, plugin), queued.pod, node, slow.signal);
      const first = await Promise.race([prepared, NOT_YET]);
      const verdict = first === PENDING ? await parts.awaitOthers(prepared) : first;
      if (isRejection(verdict)) return refused(verdict.reasons.join(", "));
      if (slow.preempted !== undefined) return refused(oneNodeText(slow.preempted));
    }
    step.point = "";
    slow?.commit();
    status = "Success";
    return undefined;
  } catch (error) {
    if (slow?.preempted !== undefined && !parts.signal.aborted) return refused(oneNodeText(slow.preempted));
    throw error;
  } finally {
    observe(parts, placement, "PreBind", status, startedMs);
  }
}

function observe(
  { metrics, clock }: Parts,
  { stages }: Placement,
  point: string,
  status: string,
  startedMs: number,
): void {
  metrics.pointSeconds.labels(point, status, stages.schedulerName).observe((clock.monotonic() - startedMs) / 1000);
}

async function bind(parts: Parts, placement: Placement, step: Step): Promise<void> {
  const { stages, queued, node } = placement;
  const { pod, wokenBy } = queued;
  for (const extender of parts.extenders) {
    if (extender.bind === undefined || !extender.isInterested(pod)) continue;
    try {
      await extender.bind(pod, node, parts.signal);
      return;
    } catch (error) {
      if (!extender.ignorable || isAbort(error, parts.signal)) throw error;
      parts.log.warn("an ignorable extender failed to bind", {
        extender: extender.name,
        pod: pod.key,
        error,
      });
    }
  }
  const startedMs = parts.clock.monotonic();
  let status = "Error";
  try {
    for (const plugin of stages.bind) {
      step.point = "Bind";
      step.plugin = plugin.name;
      if ((await plugin.bind?.(pod, node, parts.signal, wokenBy)) !== "bound") continue;
      status = "Success";
      return;
    }
    step.point = "";
    status = "Skip";
    throw new Error(`no plugin binds the pod ${pod.key}`);
  } finally {
    observe(parts, placement, "Bind", status, startedMs);
  }
}

function succeed(parts: Parts, placement: Placement): void {
  const { queue, metrics, clock, events } = parts;
  const { stages, queued, node, startedMs } = placement;
  const { pod } = queued;
  const now = clock.monotonic();
  metrics.attempts.labels("scheduled", stages.schedulerName).inc();
  metrics.attemptSeconds.labels("scheduled", stages.schedulerName).observe((now - startedMs) / 1000);
  metrics.podAttempts.labels().observe(queued.attempts);
  metrics.podSeconds.labels(attemptsLabel(queued.attempts)).observe((now - (queued.sinceMs ?? now)) / 1000);
  if (queued.wasFlushed) metrics.afterFlush.labels().inc();
  queue.done(pod.uid);
  events(stages.schedulerName).record({
    about: pod.pod,
    type: "Normal",
    reason: "Scheduled",
    action: "Binding",
    note: `Successfully assigned ${pod.namespace}/${pod.name} to ${node}`,
  });
  for (const plugin of stages.postBind) plugin.postBind?.(stateOf(placement, plugin), pod, node);
}

/** Releases the node. */
export function unreserve({ state }: Pick<Parts, "state">, placement: Placement): void {
  const { stages, queued, node } = placement;
  for (const plugin of stages.reserve.toReversed()) plugin.unreserve?.(stateOf(placement, plugin), queued.pod, node);
  state.forget(queued.pod.uid);
}

type Fault = Pick<FailedAttempt, "failure" | "message" | "published">;

function failBinding(parts: Parts, { queued, stages, node, startedMs }: Placement, fault: Fault): void {
  const { pod } = queued;
  const { failure, message } = fault;
  if (failure.kind === "error") parts.log.warn("a pod could not be bound", { pod: pod.key, node, message });
  // Others of its gang run: its place must not go to somebody else.
  const isInGang = parts.groups?.of(pod.pod)?.object?.spec.schedulingPolicy.gang !== undefined;
  const nominate = isInGang && failure.kind === "error" ? node : "";
  handleFailure(parts, { queued, schedulerName: stages.schedulerName, ...fault, nominate, startedMs });
  // Like the deletion of a placed pod: its resources may let others fit.
  const old: core.Pod = { ...pod.pod, spec: { containers: [], ...pod.pod.spec, nodeName: node } };
  parts.queue.event({ resource: "AssignedPod", action: "delete", old }, ({ uid }) => uid !== pod.uid);
}

function rejected({ plugin, kind }: Rejection): Failure {
  return { kind: "rejected", rejectors: new Set([plugin]), pending: new Set(kind === "pending" ? [plugin] : []) };
}

/** Retries until the API server answers. */
async function isBoundOnServer(
  { client, clock, random, signal }: Parts,
  { queued, node }: Placement,
): Promise<boolean> {
  const { namespace, name, uid } = queued.pod;
  const backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 }, random);
  for (;;) {
    try {
      const { metadata, spec } = await client.of(kinds.Pod).in(namespace).get(name, { signal });
      return metadata.uid === uid && spec?.nodeName === node;
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") return false;
      if (isAbort(error, signal)) throw error;
      await clock.sleep(backoff.next(), signal);
    }
  }
}
