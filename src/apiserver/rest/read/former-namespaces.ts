/**
 * Namespaces that were deleted and exist again: what was in the former one belongs to others.
 *
 * 1. Rights in a namespace do not reach the objects of a former one of the same name. Lists, pages and watches from a
 *    revision before its end have expired, for everyone: a client lists again, as after a compaction.
 * 2. A namespace that was not replaced can be read from every revision, also from those before it existed.
 * 3. The ends of former namespaces are found among the recent events of Namespaces. For earlier revisions, the store
 *    tells whether the namespace was the one of now.
 */
import type { Revision } from "#store";
import type { ResourceCache } from "../../cache/resource-cache.ts";
import type { Selection } from "../../cache/selection.ts";
import { StoredObject } from "../../cache/stored-object.ts";
import type { Resources } from "../resources.ts";
import type { RestRequest } from "../rest-request.ts";
import type { StorageContext } from "../server-context.ts";
import { pastState } from "./past-state.ts";

export class FormerNamespaces {
  readonly #storage: Pick<StorageContext, "store">;
  readonly #resources: Resources;

  constructor(storage: Pick<StorageContext, "store">, resources: Resources) {
    this.#storage = storage;
    this.#resources = resources;
  }

  /** The revision at which the former namespace of this name ended. Undefined: there was none, as far as is known. */
  endOf(name: string): Revision | undefined {
    const cache = this.#cache;
    return cache?.get(name) && lastEnd(cache, name, cache.oldest);
  }

  /** When the namespace of now was created, to the second. Undefined: it does not exist. */
  createdAtMs(name: string): number | undefined {
    const created = this.#cache?.get(name)?.object.metadata.creationTimestamp;
    return created === undefined || created === null ? undefined : Date.parse(created);
  }

  /** The first revision that can be read, where `revision` may show a former namespace. */
  async readableSince(name: string, revision: Revision): Promise<Revision | undefined> {
    const cache = this.#cache;
    const now = cache?.get(name);
    if (cache === undefined || now === undefined) return undefined;
    if (revision >= cache.oldest) return lastEnd(cache, name, revision);
    return (await this.#uidAt(cache.prefix + name, revision)) === now.object.metadata.uid ? undefined : cache.oldest;
  }

  get #cache(): ResourceCache | undefined {
    return this.#resources.find("", "v1", "namespaces")?.cache;
  }

  async #uidAt(key: string, revision: Revision): Promise<string | undefined> {
    const [entry] = (await pastState(this.#storage, key, revision, 1)).entries;
    return entry?.key === key ? new StoredObject(entry).object.metadata.uid : undefined;
  }
}

/** As `readableSince`, for the namespace that a request reads. */
export async function readableSince(
  { context, resource, asOf }: RestRequest,
  { namespace, name }: Selection,
  revision: Revision,
): Promise<Revision | undefined> {
  const { formerNamespaces } = context;
  // Reads of the past have an access check of their own.
  if (formerNamespaces === undefined || asOf !== undefined) return undefined;
  const isNamespaces = resource.kind.group === "" && resource.kind.names.plural === "namespaces";
  const read = isNamespaces ? name : namespace;
  return read === undefined ? undefined : formerNamespaces.readableSince(read, revision);
}

function lastEnd(cache: ResourceCache, name: string, after: Revision): Revision | undefined {
  let end: Revision | undefined;
  const stop = cache.watchChanges({ name }, after, {
    change: ({ current, revision }) => {
      if (current === undefined) end = revision;
    },
    expired: () => {},
  });
  stop?.();
  return end;
}
