/**
 * The facts of a request after its response, as the server has them. Texts are made when a record is read, which is
 * rare.
 */
import { actorOf } from "./actors.ts";
import type { Call, RequestRecord, SpanName, Written } from "./record.ts";

/** The part that many requests share, mostly as one object. */
export interface RequestAbout {
  readonly verb: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly subresource: string;
}

const NOTHING: RequestAbout = { verb: "", apiGroup: "", resource: "", subresource: "" };

export class RequestFacts {
  seq = 0;
  at = 0;
  tookMs = 0;
  user = "";
  userAgent = "";
  about: RequestAbout = NOTHING;
  namespace = "";
  name = "";
  status = 0;
  /** The reason of a refusal. */
  reason: string | undefined = undefined;
  /** The text of the authorizer. */
  authorization: string | undefined = undefined;
  cause: string | undefined = undefined;
  /** The revision that it wrote; 0 if none. */
  revision = 0;
  change: Written["change"] | "" = "";
  uid = "";
  writtenAt = 0;
  /** The admission plugins that ran, as shared lists. */
  mutated: readonly string[] | undefined = undefined;
  validated: readonly string[] | undefined = undefined;
  /**
   * In microseconds: the start of the mutating phase and the end of each of its plugins; from `split` on, the same of
   * the validating phase.
   */
  stamps: readonly number[] | undefined = undefined;
  split = 0;
  refusedBy: string | undefined = undefined;
  calls: readonly Call[] | undefined = undefined;
  span: SpanName | undefined = undefined;
}

export function recordOf(facts: RequestFacts): RequestRecord {
  const { seq, at, tookMs, user, userAgent, namespace, name, status } = facts;
  const { verb, apiGroup, resource, subresource } = facts.about;
  const {
    reason,
    cause,
    revision,
    change,
    uid,
    writtenAt,
    refusedBy,
    calls,
    span,
    mutated = [],
    validated = [],
  } = facts;
  const admission = mutated.length + validated.length === 0 ? undefined : [...new Set([...mutated, ...validated])];
  const admissionMicroseconds = admission === undefined ? undefined : timesOf(facts);
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
    ...(admissionMicroseconds !== undefined && { admissionMicroseconds }),
    ...(refusedBy !== undefined && { refusedBy }),
    ...(calls !== undefined && { calls }),
    ...(change !== "" && { written: { revision, change, uid, at: writtenAt } }),
    ...(cause !== undefined && { cause }),
    ...(span !== undefined && { span }),
  };
}

function timesOf(facts: RequestFacts): Record<string, number> | undefined {
  const { mutated = [], validated = [], stamps, split } = facts;
  if (stamps === undefined) return undefined;
  const times: Record<string, number> = {};
  const add = (owners: readonly string[], from: number, to: number) => {
    for (let at = from + 1; at < to; at++) {
      // A plugin that ran again starts over.
      const owner = owners[(at - from - 1) % owners.length];
      if (owner !== undefined) times[owner] = (times[owner] ?? 0) + (stamps[at] ?? 0) - (stamps[at - 1] ?? 0);
    }
  };
  const end = facts.validated === undefined ? stamps.length : split;
  add(mutated, 0, end);
  add(validated, end, stamps.length);
  return times;
}

/** `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "u"` in short. */
function roleOf(reason: string | undefined): string | undefined {
  if (reason === undefined || reason === "") return undefined;
  const role = /of (?:Cluster)?Role "([^"]+)"/.exec(reason)?.[1];
  return role === undefined ? reason.slice(0, 80) : `RBAC ${role}`;
}
