/** GET of one object, from the cache. */
import { notFound } from "#api";
import { andThen, type Maybe } from "#base";
import type { Revision } from "#store";
import { StoredObject } from "../../cache/stored-object.ts";
import { ownForm } from "../forms.ts";
import type { RestRequest } from "../rest-request.ts";
import { fresh, isFresh, notOlderThan } from "./fresh.ts";
import { parseVersion } from "./list-options.ts";
import { pastState } from "./past-state.ts";

/** Returns a promise only if it has to wait. */
export function get(request: RestRequest): Maybe<StoredObject> {
  const { context, query } = request;
  const version = query.size === 0 ? "" : (query.get("resourceVersion") ?? "");
  if (request.asOf !== undefined || version !== "" || !isFresh(context)) return getLate(request, version);
  return kept(request);
}

async function getLate(request: RestRequest, version: string): Promise<StoredObject> {
  const { context, asOf } = request;
  if (asOf !== undefined) return getAsOf(request, asOf);
  if (version !== "") await notOlderThan(context, parseVersion(version, 500));
  else await fresh(context);
  return kept(request);
}

function kept(request: RestRequest): Maybe<StoredObject> {
  const { resource, namespace, name } = request;
  return andThen(resource.get(resource.suffix(namespace, name)), (stored) => existing(request, stored));
}

function existing({ resource, name }: RestRequest, stored: StoredObject | undefined): StoredObject {
  if (stored === undefined) throw notFound(resource.groupResource, name);
  return stored;
}

async function getAsOf(request: RestRequest, revision: Revision): Promise<StoredObject> {
  const { context, resource, namespace, name } = request;
  const key = resource.cache.prefix + resource.suffix(namespace, name);
  const { entries } = await pastState(context, key, revision, 1);
  const [entry] = entries;
  if (entry === undefined || entry.key !== key) throw notFound(resource.groupResource, name);
  const stored = new StoredObject(entry);
  return resource.forms === undefined ? stored : ownForm(resource.forms, stored);
}
