/**
 * Writes whose bodies or objects are large run in a thread of their own, so that nobody waits for them who sent
 * something small (ADR 0033). Large bodies of anything else are decoded there.
 *
 *     create, update, patch ──► large? ──► heavy-thread ──► the same steps, with the serving thread for the rest
 *     reviews, options, …   ──► large? ──► heavy-thread ──► the decoded body
 *
 * 1. A write is large if what it sends and the object that it changes have together `LARGE_BYTES`. Others pay for a
 *    comparison.
 * 2. The answer is the one that the serving thread would give: both run `WRITE_ORDER`.
 * 3. Kinds whose objects a webhook converts stay on the serving thread, and so does what a component of this process
 *    creates.
 */
import { builtIn, type Kind, optionalKinds, writeJson } from "#api";
import type { AnswerContext } from "../encode/answers.ts";
import { asBuffer } from "../encode/as-buffer.ts";
import type { WholeResponse } from "../http/exchange.ts";
import type { HeavyWrites } from "../pipeline/dispatch.ts";
import { fresh } from "../rest/read/fresh.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { StorageContext } from "../rest/server-context.ts";
import { Effects } from "./effects.ts";
import { SentErrors } from "./failure.ts";
import { type Beginning, HeavyThread, type HeavyThreadOptions } from "./heavy-thread.ts";
import { decodeElsewhere } from "./large-bodies.ts";
import type { HeavyVerb, StoredValue } from "./protocol.ts";

/** The dearest take half a millisecond for 1,000 bytes, so that a smaller one takes no more than 50 (ADR 0033). */
export const LARGE_BYTES = 100_000;

export interface HeavyOptions extends Pick<HeavyThreadOptions, "startThread"> {
  /** False: kinds refuse privileged Pods. */
  readonly allowPrivileged: boolean;
  /** Default: `LARGE_BYTES`. */
  readonly largeBytes?: number | undefined;
}

export interface HeavySurroundings extends HeavyOptions {
  readonly storage: StorageContext;
  readonly garbageCollection: boolean | undefined;
  /** The definition behind a custom resource, if its objects are converted without a webhook. */
  definitionOf(resource: Resource): object | undefined;
}

export function heavyWrites(options: HeavySurroundings): HeavyWrites & { close(): Promise<void> } {
  const { storage, definitionOf, allowPrivileged, garbageCollection, startThread } = options;
  const { largeBytes = LARGE_BYTES } = options;
  const { clock, log, features } = storage;
  const gates = [...features.all()].filter(({ enabled }) => enabled).map(({ name }) => name);
  const setUp = { gates, allowPrivileged, garbageCollection };
  const thread = new HeavyThread({ setUp, clock, log, startThread });
  const ours = new Set<string>([...builtIn, ...optionalKinds].map(nameOf));
  const isKnown = ({ kind, forms }: Resource) => forms === undefined && ours.has(nameOf(kind));
  return {
    close: () => thread.close(),
    decode: (request, bytes, form) =>
      bytes.length < largeBytes ? undefined : decodeElsewhere(thread, request, bytes, form),
    take(verb, request, declared, answer, plain) {
      const { resource, value } = request;
      const there = verb === "create" ? 0 : sizeOf(request);
      if (value !== undefined && there < largeBytes) return undefined;
      const sent = value === undefined && declared !== undefined ? Number(declared) : Number.NaN;
      // Written so that a length that is not declared, or is no number, is looked at.
      if (there + sent < largeBytes) return undefined;
      const definition = definitionOf(resource);
      if (definition === undefined && !isKnown(resource)) return undefined;
      return request
        .body()
        .then((body) =>
          there + body.length >= largeBytes
            ? runElsewhere(thread, { verb, request, body, answer, definition })
            : plain({ ...request, body: async () => body }),
        );
    },
  };
}

function sizeOf({ resource, namespace, name }: RestRequest): number {
  return resource.cache.get(resource.suffix(namespace, name))?.bytes ?? 0;
}

function nameOf({ group, version, names }: Kind): string {
  return `${group}/${version}/${names.plural}`;
}

interface Heavy {
  readonly verb: HeavyVerb;
  readonly request: RestRequest;
  readonly body: Buffer;
  readonly answer: AnswerContext;
  readonly definition: object | undefined;
}

async function runElsewhere(thread: HeavyThread, heavy: Heavy): Promise<WholeResponse> {
  const { request } = heavy;
  const errors = new SentErrors();
  const effects = new Effects(request, errors);
  try {
    const outcome = await thread.run({
      user: request.user.name,
      begin: () => beginning(heavy),
      answer: (question) => effects.answer(question),
      warned: request.warn,
    });
    if ("failure" in outcome) throw errors.errorOf(outcome.failure);
    if ("decoded" in outcome) throw new Error("a write ended with a decoded body");
    const { status, headers, body } = outcome;
    return { status, headers, body: [asBuffer(body)] };
  } finally {
    await effects.abandoned();
  }
}

async function beginning({ verb, request, body, answer, definition }: Heavy): Promise<Beginning> {
  const { context, resource, namespace, name, subresource, user, userAgent, query, contentType, received } = request;
  if (verb !== "create") await fresh(context);
  const { kind, groupResource } = resource;
  const current = verb === "create" ? undefined : currentOf(request);
  const key = `${groupResource.group}/${groupResource.resource}`;
  return {
    definition: definition && { of: definition, text: () => writeJson(definition) },
    job: {
      type: "job",
      verb,
      group: kind.group,
      version: kind.version,
      plural: kind.names.plural,
      namespace,
      name,
      subresource,
      user,
      userAgent,
      query: query.toString(),
      contentType,
      format: answer.format,
      // Bytes of their own: otherwise the memory around them would be copied as well.
      body: new Uint8Array(body),
      current,
      nowMs: context.clock.now(),
      uid: current === undefined ? context.newUid() : "",
      asks: {
        received: received !== undefined,
        guard: context.access.guards.has(key),
        allocate: context.allocators.has(key),
      },
    },
  };
}

function currentOf({ context, resource, namespace, name }: RestRequest): StoredValue | undefined {
  const stored = resource.cache.get(resource.suffix(namespace, name));
  if (stored === undefined) return undefined;
  const { key, revision } = stored;
  return { key, revision, value: new Uint8Array(stored.value), isOutdated: context.isOutdated?.(key) === true };
}
