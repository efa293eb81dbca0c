/** Executes a plan with a controller's own client, and returns the writes that its caches do not show yet. */
import { isStatusError, type KubeObject } from "#api";
import type { CallOptions, Client, EventRecorder } from "#client";
import type { Seen } from "./barrier.ts";
import type { Failure, Outcome, Plan, Write } from "./plan.ts";

export interface Executor {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly signal: AbortSignal;
  /** The cause of the requests, for the flow record. Called if there is a request. */
  cause?(): string;
}

export interface Executed {
  readonly failures: readonly Failure[];
  readonly seen: readonly Seen[];
}

export async function execute(plan: Plan, executor: Executor): Promise<Executed> {
  const seen: Seen[] = [];
  const failures: Failure[] = [];
  const carryOut = async (write: Write): Promise<boolean> => {
    const outcome = await attempt(write, executor);
    for (const event of [plan.eventFor?.(write, outcome) ?? []].flat()) executor.recorder.record(event);
    if (outcome.ok) seen.push(seenOf(write, outcome.object));
    else failures.push({ write, error: outcome.error });
    return outcome.ok;
  };
  for (const event of plan.events ?? []) executor.recorder.record(event);
  for (const step of plan.steps ?? []) {
    if (failures.length > 0) break;
    await slowStart(step, carryOut);
  }
  for (const write of plan.finally?.([...failures]) ?? []) await carryOut(write);
  return { failures, seen };
}

/** 1, 2, 4, 8 … concurrent writes until one fails: a failure mostly applies to all. */
async function slowStart(writes: readonly Write[], carryOut: (write: Write) => Promise<boolean>): Promise<void> {
  for (let at = 0, size = 1; at < writes.length; at += size, size *= 2) {
    const succeeded = await Promise.all(writes.slice(at, at + size).map(carryOut));
    if (!succeeded.every(Boolean)) return;
  }
}

async function attempt(write: Write, { client, signal, cause }: Executor): Promise<Outcome> {
  const options = { signal, cause: cause?.() };
  try {
    return { ok: true, object: await perform(write, client, options) };
  } catch (error) {
    if (signal.aborted) throw error;
    // The object is gone already.
    if (write.verb === "delete" && isStatusError(error) && error.reason === "NotFound")
      return { ok: true, object: undefined };
    return { ok: false, error };
  }
}

async function perform(write: Write, client: Client, options: CallOptions): Promise<KubeObject | undefined> {
  const { resource, object } = write;
  const { name = "", namespace, uid, resourceVersion } = object.metadata;
  const all = client.of<KubeObject>(resource);
  const place = namespace === undefined || namespace === "" ? all : all.in(namespace);
  switch (write.verb) {
    case "create":
      return place.create(object, options);
    case "update":
      return write.subresource === undefined
        ? place.update(object, options)
        : place.subresource(name, write.subresource).update(object, options);
    case "updateStatus":
      return place.updateStatus(object, options);
    case "patch": {
      const patch = { type: write.type ?? "strategic", object: write.patch } as const;
      return write.subresource === undefined
        ? place.patch(name, patch, options)
        : place.subresource(name, write.subresource).patch(patch, options);
    }
    case "delete": {
      const { propagationPolicy, gracePeriodSeconds, unchanged = false } = write;
      return place.delete(name, {
        ...options,
        preconditions: {
          ...(uid !== undefined && { uid }),
          ...(unchanged && resourceVersion !== undefined && { resourceVersion }),
        },
        ...(propagationPolicy !== undefined && { propagationPolicy }),
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      });
    }
  }
}

function seenOf(write: Write, result: KubeObject | undefined): Seen {
  const { resource } = write;
  if (write.verb === "delete" && (result === undefined || result.metadata.deletionTimestamp === undefined))
    return { resource, gone: write.object };
  return { resource, revision: Number(result?.metadata.resourceVersion ?? 0) };
}
