/**
 * A store whose values have a media type: JSON or, for built-in kinds, Kubernetes' protobuf. Verbs and caches see JSON.
 *
 *     verbs, feed ──► media types ──► encryption ══► store
 *
 * 1. Writes use the configured media type; reads understand both. Custom resources, and what is no object, are JSON.
 * 2. A value of the other media type is outdated: an update without changes writes it again.
 * 3. JSON that is read or written as JSON costs a look at its first byte. `previous` of such a change is as stored.
 * 4. A value that cannot be decoded is still an entry: reading its object fails with the reason.
 */
import {
  apiVersionOf,
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  isEnvelope,
  type JsonObject,
  type Kind,
  type KubeObject,
  type ObjectSchema,
  parseJson,
} from "#api";
import type { Change, Entry, Store, Watch, WatchBatch, WriteOutcome } from "#store";
import { encodeForStore, unreadable } from "../cache/stored-object.ts";
import { PROTOBUF_TYPE } from "../rest/body.ts";

export const STORAGE_MEDIA_TYPES = ["application/json", PROTOBUF_TYPE] as const;
export type StorageMediaType = (typeof STORAGE_MEDIA_TYPES)[number];

/** Stored JSON begins with these two fields. */
const HEAD = /^\{"kind":"([^"\\]+)","apiVersion":"([^"\\]+)"/;
const HEAD_BYTES = 400;

export interface MediaTypeStore extends Store {
  isOutdated(key: string): boolean;
}

export function mediaTypeStore(store: Store, mediaType: StorageMediaType, kinds: readonly Kind[]): MediaTypeStore {
  const schemas = schemasOf(kinds);
  const writesProtobuf = mediaType === PROTOBUF_TYPE;
  const outdated = new Set<string>();

  const written = (value: Buffer): Buffer => {
    const schema = writesProtobuf ? schemas.get(typeIn(value)) : undefined;
    if (schema === undefined) return value;
    const object = parseJson(value.toString("utf8")) as JsonObject;
    const { apiVersion = "", kind = "" } = object;
    const raw = encodeProtobuf(schema, object);
    return Buffer.from(encodeEnvelope({ apiVersion: String(apiVersion), kind: String(kind), raw }));
  };
  const read = (entry: Entry): Entry => {
    const { key, value } = entry;
    const isProtobuf = isEnvelope(value);
    if (isProtobuf ? !writesProtobuf : writesProtobuf && schemas.has(typeIn(value))) outdated.add(key);
    else if (outdated.size > 0) outdated.delete(key);
    return isProtobuf ? { ...entry, value: decoded(key, value, schemas) } : entry;
  };
  const outcomeOf = async (outcome: Promise<WriteOutcome>): Promise<WriteOutcome> => {
    const answer = await outcome;
    return answer.ok || answer.current === undefined ? answer : { ok: false, current: read(answer.current) };
  };
  const changeOf = (change: Change): Change => {
    const { key, revision, entry } = change;
    if (entry === undefined) {
      outdated.delete(key);
      return change;
    }
    const own = read(entry);
    return own === entry ? change : { key, revision, entry: own, previous: undefined };
  };
  async function* batches(inner: Watch): AsyncGenerator<WatchBatch> {
    for await (const { changes, revision } of inner) yield { changes: changes.map(changeOf), revision };
  }

  return {
    get: async (key, options) => {
      const entry = await store.get(key, options);
      return entry === undefined ? undefined : read(entry);
    },
    list: async (prefix, options) => {
      const page = await store.list(prefix, options);
      return { ...page, entries: page.entries.map(read) };
    },
    count: (prefix, options) => store.count(prefix, options),
    create: async (key, value, options) => outcomeOf(store.create(key, written(value), options)),
    update: async (key, value, expected, options) => outcomeOf(store.update(key, written(value), expected, options)),
    delete: (key, expected, options) => outcomeOf(store.delete(key, expected, options)),
    watch: (prefix, options) => {
      const inner = store.watch(prefix, options);
      return { requestProgress: () => inner.requestProgress(), [Symbol.asyncIterator]: () => batches(inner) };
    },
    revision: (options) => store.revision(options),
    compact: (revision, options) => store.compact(revision, options),
    close: () => store.close(),
    isOutdated: (key) => outdated.has(key),
  };
}

/** By `apiVersion kind`: the kinds that have a protobuf message. */
function schemasOf(kinds: readonly Kind[]): ReadonlyMap<string, ObjectSchema> {
  return new Map(
    kinds
      .filter(({ schema }) => schema.goType !== undefined)
      .map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind.schema]),
  );
}

/** `apiVersion kind` of stored JSON; empty if it is no object of the API. */
function typeIn(value: Buffer): string {
  const [, kind, apiVersion] = HEAD.exec(value.toString("utf8", 0, HEAD_BYTES)) ?? [];
  return kind === undefined || apiVersion === undefined ? "" : `${apiVersion} ${kind}`;
}

function decoded(key: string, value: Buffer, schemas: ReadonlyMap<string, ObjectSchema>): Buffer {
  try {
    const { apiVersion, kind, raw } = decodeEnvelope(value);
    const schema = schemas.get(`${apiVersion} ${kind}`);
    if (schema === undefined) throw new Error(`no kind "${kind}" is registered for version "${apiVersion}"`);
    return encodeForStore({ ...decodeProtobuf(schema, raw), kind, apiVersion } as unknown as KubeObject);
  } catch (error) {
    return unreadable(`unable to decode key ${JSON.stringify(key)}: ${(error as Error).message}`);
  }
}
