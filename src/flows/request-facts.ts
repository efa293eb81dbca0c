/**
 * What a server knows of a request when it has answered it, as it knows it: words are found when somebody reads the record, which is seldom.
 *
 * One shape for all of them, and nothing that has to be made: a record costs every request, and every request has one.
 */
import { actorOf } from "./actors.ts";
import type { Call, RequestRecord, Written } from "./record.ts";

export class RequestFacts {
  seq = 0;
  at = 0;
  tookMs = 0;
  user = "";
  userAgent = "";
  verb = "";
  apiGroup = "";
  resource = "";
  subresource = "";
  namespace = "";
  name = "";
  status = 0;
  /** Of a refusal. */
  reason: string | undefined = undefined;
  /** As authorization says it. */
  authorization: string | undefined = undefined;
  cause: string | undefined = undefined;
  written: Written | undefined = undefined;
  /** Shared lists of admission plugins that were asked. */
  mutated: readonly string[] | undefined = undefined;
  validated: readonly string[] | undefined = undefined;
  refusedBy: string | undefined = undefined;
  calls: readonly Call[] | undefined = undefined;
}

export function recordOf(facts: RequestFacts): RequestRecord {
  const { seq, at, tookMs, user, userAgent, verb, apiGroup, resource, subresource, namespace, name, status } = facts;
  const { reason, cause, written, refusedBy, calls, mutated = [], validated = [] } = facts;
  const admission = mutated.length + validated.length === 0 ? undefined : [...new Set([...mutated, ...validated])];
  const authorization = roleOf(facts.authorization);
  return {
    type: "request",
    seq,
    at,
    actor: actorOf(user, userAgent),
    user,
    verb,
    resource: apiGroup === "" ? resource : `${apiGroup}/${resource}`,
    subresource,
    namespace,
    name,
    status,
    tookMs,
    ...(reason !== undefined && { reason }),
    ...(authorization !== undefined && { authorization }),
    ...(admission !== undefined && { admission }),
    ...(refusedBy !== undefined && { refusedBy }),
    ...(calls !== undefined && { calls }),
    ...(written !== undefined && { written }),
    ...(cause !== undefined && { cause }),
  };
}

/** `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "u"` in a few words. */
function roleOf(reason: string | undefined): string | undefined {
  if (reason === undefined || reason === "") return undefined;
  const role = /of (?:Cluster)?Role "([^"]+)"/.exec(reason)?.[1];
  return role === undefined ? reason.slice(0, 80) : `RBAC ${role}`;
}
