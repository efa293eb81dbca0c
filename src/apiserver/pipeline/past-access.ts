/**
 * Who may read past state.
 *
 * 1. The right of now (`get`, `list`) is not enough: the reader also needs the verb `past` on the resource, and for
 *    Secrets the verb `past-secrets`. cluster-admin has both; no other role that is built in has one of them.
 * 2. Rights in a namespace are rights in the namespace of now. If it did not exist then, or was another one of the same
 *    name, its past belongs to others: only rights in all namespaces reach it.
 */
import type { KubeObject } from "#api";
import type { Revision } from "#store";
import { resourceAttributes } from "../authz/attributes.ts";
import { type Authorizer, demand } from "../authz/authorizer.ts";
import { StoredObject } from "../cache/stored-object.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { pastState } from "../rest/read/past-state.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";

const PAST = "past";
const PAST_SECRETS = "past-secrets";

export interface PastAccess {
  readonly authorize: Authorizer;
  readonly context: ServerContext;
  readonly resources: Resources;
}

/** Throws the error of a reader who may not read the past. The right of now has been checked before. */
export async function demandPast(
  user: UserInfo,
  info: RequestInfo,
  revision: Revision,
  access: PastAccess,
): Promise<void> {
  const { apiGroup, apiVersion, resource, subresource, namespace, name, verb } = info;
  const isSecret = apiGroup === "" && resource === "secrets";
  const about = { apiGroup, apiVersion, resource, subresource, name };
  const ask = (right: string, where: string) =>
    demand(access.authorize, resourceAttributes(user, right, { ...about, namespace: where }));
  const past = isSecret ? PAST_SECRETS : PAST;
  await ask(past, namespace);
  if (namespace === "" || (await isSameNamespace(namespace, revision, access))) return;
  await ask(verb, "");
  await ask(past, "");
}

async function isSameNamespace(name: string, revision: Revision, access: PastAccess): Promise<boolean> {
  const { context, resources } = access;
  const namespaces = resources.find("", "v1", "namespaces");
  if (namespaces === undefined) return false;
  const suffix = namespaces.suffix("", name);
  const now = await namespaces.get(suffix);
  if (now === undefined) return false;
  const key = namespaces.cache.prefix + suffix;
  const [entry] = (await pastState(context, key, revision, 1)).entries;
  return entry?.key === key && uidOf(new StoredObject(entry).object) === uidOf(now.object);
}

function uidOf({ metadata }: KubeObject): string | undefined {
  return metadata.uid;
}
