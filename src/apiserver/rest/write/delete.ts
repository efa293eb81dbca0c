/**
 * Deletion: at once, after a grace period, or when the last finalizer is removed.
 *
 * 1. An object with finalizers, or with time left of its grace period, is only marked with metadata.deletionTimestamp.
 *    Kinds with grace periods are always marked first, so that watchers see the mark before the deletion.
 * 2. Propagation policies are finalizers: `orphan` and `foregroundDeletion` hold the object until the garbage collector
 *    removes them. Without a garbage collector they are not added.
 * 3. A write that removes the last finalizer of an object whose grace period is over deletes it.
 */
import {
  addInt64,
  conflict,
  type Draft,
  forbidden,
  formatTime,
  type Int64,
  instantOf,
  type JsonObject,
  type KubeObject,
  notFound,
} from "#api";
import { andThen } from "#base";
import type { StoredObject } from "../../cache/stored-object.ts";
import { typed } from "../body.ts";
import type { AnyDraft } from "../draft.ts";
import { deleteOptionsObject } from "../operation-options.ts";
import { type DeleteOptions, deleteOptions } from "../options.ts";
import { fresh } from "../read/fresh.ts";
import { admissionAttributes } from "../request-parts.ts";
import { demandLife, type RestRequest } from "../rest-request.ts";
import { release } from "./allocating.ts";
import { erase, persist, unstored } from "./persist.ts";
import { readBody } from "./read-body.ts";

const OPTIONS_TYPE = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";
const MAX_TRIES = 10;

export interface Deleted {
  /** The last state, or the marked object. */
  readonly stored: StoredObject;
  /** False: it is marked, and waits for its finalizers or its grace period. */
  readonly gone: boolean;
}

export async function deleteOne(request: RestRequest): Promise<Deleted> {
  return deleteWith(request, await readOptions(request));
}

export async function readOptions(request: RestRequest): Promise<DeleteOptions> {
  const sent = request.value?.();
  if (sent !== undefined) return deleteOptions(request.query, typed(sent, OPTIONS_TYPE) as JsonObject);
  const bytes = await request.body();
  if (bytes.length === 0) return deleteOptions(request.query, undefined);
  const read = readBody(request, bytes, { as: "options", typeName: OPTIONS_TYPE });
  return andThen(read, ({ value }) => deleteOptions(request.query, value as JsonObject));
}

export async function deleteWith(request: RestRequest, options: DeleteOptions): Promise<Deleted> {
  const { context, resource, namespace, name } = request;
  const suffix = resource.suffix(namespace, name);
  // An object is not found or in conflict only if it is so in the store: a cache may lag behind the writes of another
  // server.
  await fresh(context);
  let current = await resource.get(suffix);
  for (let tries = 1; ; tries++) {
    if (current === undefined) throw notFound(resource.groupResource, name);
    const old = resource.read(current);
    checkPreconditions(request, old, options);
    const rules = resource.kind.delete;
    const why = rules?.forbids?.(old);
    if (why !== undefined) throw forbidden(resource.groupResource, name, why);
    if (options.propagationPolicy === undefined && rules?.defaultPropagationWarning !== undefined)
      request.warn(rules.defaultPropagationWarning);
    const attributes = admissionAttributes(request, "DELETE", options.dryRun, undefined, old, () =>
      deleteOptionsObject(options),
    );
    await context.admission.mutate(attributes);
    await context.admission.validate(attributes);
    const { marked, over } = mark(request, old, options);
    if (options.dryRun) {
      const stored = marked === old ? current : unstored(resource, suffix, marked).asOf(current.revision);
      return { stored, gone: over };
    }
    demandLife(request);
    const settled =
      marked === old
        ? { ok: true as const, stored: current }
        : await persist(context, resource, suffix, marked, current.revision, request.witness);
    if (settled.ok && !over) return { stored: settled.stored, gone: false };
    const ended = settled.ok ? await erase(context, resource, suffix, settled.stored, request.witness) : settled;
    if (ended.ok) {
      await release(context, resource, old);
      return { stored: ended.stored, gone: true };
    }
    current = ended.current;
    if (tries === MAX_TRIES) throw conflict(resource.groupResource, name);
  }
}

/** Deletes a marked object instead of storing it, if the change removes the last finalizer that held it. */
export async function eraseIfFinished(
  request: RestRequest,
  suffix: string,
  draft: AnyDraft,
  current: StoredObject,
): Promise<StoredObject | undefined> {
  const { metadata } = draft;
  const waiting = metadata.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
  const { kind } = request.resource;
  const before = request.resource.read(current);
  const held = (object: KubeObject) =>
    (object.metadata.finalizers ?? []).length > 0 || kind.delete?.holds?.(object) === true;
  if (!waiting || held(draft) || !held(before)) return undefined;
  const outcome = await erase(request.context, request.resource, suffix, current, request.witness);
  if (outcome.ok) await release(request.context, request.resource, request.resource.read(current));
  return outcome.ok ? outcome.stored : undefined;
}

/**
 * The object with its mark, or the object itself if it needs none or has it already. `over`: nothing holds it any more.
 */
function mark(
  { context, resource }: RestRequest,
  old: KubeObject,
  options: DeleteOptions,
): { readonly marked: KubeObject; readonly over: boolean } {
  const { metadata } = old;
  const present = metadata.finalizers ?? [];
  const finalizers =
    context.garbageCollection === false
      ? present
      : finalizersFor(resource.kind.delete?.defaultPropagation, present, options);
  const asked = resource.kind.delete?.graceSeconds?.(old, options.gracePeriodSeconds) ?? 0;
  const already = metadata.deletionTimestamp !== undefined;
  const granted = metadata.deletionGracePeriodSeconds ?? 0;
  const grace = already && granted < asked ? granted : asked;
  const held = resource.kind.delete?.holds?.(old) === true;
  const over = finalizers.length === 0 && grace === 0 && !held;
  if (over && (already || resource.kind.delete?.graceSeconds === undefined)) return { marked: old, over };
  const same =
    already &&
    grace === metadata.deletionGracePeriodSeconds &&
    finalizers.join() === (metadata.finalizers ?? []).join();
  if (same) return { marked: old, over };
  const start = already ? Date.parse(metadata.deletionTimestamp ?? "") - durationMs(granted) : context.clock.now();
  const { finalizers: _, ...rest } = metadata;
  // What a kind holds itself it also marks itself.
  const raises =
    !already &&
    !held &&
    metadata.generation !== undefined &&
    resource.kind.generation !== undefined &&
    resource.kind.generation !== "client";
  const marked = {
    ...old,
    metadata: {
      ...rest,
      deletionTimestamp: formatTime(instantOf(start + durationMs(grace))),
      ...(!held && { deletionGracePeriodSeconds: grace }),
      ...(finalizers.length > 0 && { finalizers }),
      ...(raises && { generation: addInt64(metadata.generation ?? 0, 1) }),
    },
  };
  resource.kind.delete?.mark?.(marked as Draft<KubeObject>);
  return { marked, over };
}

/** As Go computes with durations: in nanoseconds of 64 bits, which wrap around after 292 years. */
function durationMs(seconds: Int64): number {
  const ms = Number(seconds) * 1000;
  return Math.abs(ms) < 2 ** 53 ? ms : Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}

function finalizersFor(
  byDefault: DeleteOptions["propagationPolicy"],
  present: readonly string[],
  { propagationPolicy }: DeleteOptions,
): readonly string[] {
  const policy =
    propagationPolicy ??
    (present.includes(ORPHAN) ? "Orphan" : present.includes(FOREGROUND) ? "Foreground" : byDefault);
  const others = present.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === "Orphan") return [...others, ORPHAN];
  if (policy === "Foreground") return [...others, FOREGROUND];
  return others;
}

function checkPreconditions(
  { resource, name }: RestRequest,
  { metadata }: KubeObject,
  { preconditions }: DeleteOptions,
): void {
  const { uid, resourceVersion } = preconditions;
  const about = { group: resource.kind.group, resource: resource.kind.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(about, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(about, name, why);
  }
}
