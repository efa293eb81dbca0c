/**
 * Records each request about a resource, and the work that it came from: see #flows.
 *
 * 1. Nothing waits for it, and nothing fails because of it.
 * 2. Who somebody is comes from authentication; what they say about their work comes from them, and is marked where it is not theirs to say.
 */
import type { Clock } from "#base";
import {
  actorOf,
  CAUSE_HEADER,
  type Cause,
  causeId,
  type Recorder,
  type RequestRecord,
  readCause,
  type Unnumbered,
  vouchesFor,
} from "#flows";
import type { ApiResponse } from "../http/exchange.ts";
import type { Exchange, Step } from "../pipeline.ts";
import type { WrittenObject } from "../rest/server-context.ts";

const REASON = "authorization.k8s.io/reason";

export interface FlowStepOptions {
  readonly recorder: Recorder;
  /** How far the store is: what somebody was woken by cannot be newer. */
  readonly revision: () => number;
  readonly clock: Clock;
}

export function flowStep({ recorder, revision, clock }: FlowStepOptions): Step {
  return async (exchange, next) => {
    if (!exchange.info.isResourceRequest) return next();
    const at = clock.now();
    const start = clock.monotonic();
    const writes: (WrittenObject & { readonly at: number })[] = [];
    exchange.wrote = (write) => writes.push({ ...write, at: at + clock.monotonic() - start });
    const response = await next();
    const base = recordOf(exchange, response, at, clock.monotonic() - start, causeOf(exchange));
    if (writes.length === 0) recorder.request(base);
    for (const { namespace, name, ...written } of writes) recorder.request({ ...base, namespace, name, written });
    return response;
  };

  /** The id of the work that sent the request, which is recorded when it is first heard of. */
  function causeOf({ original, user }: Exchange): string | undefined {
    const header = original.headers[CAUSE_HEADER];
    const id = causeId(header);
    if (id === undefined || recorder.knowsWork(id)) return id;
    const cause = readCause(header);
    if (cause === undefined) return undefined;
    recorder.work({
      type: "work",
      id,
      at: cause.startedAt,
      actor: cause.actor,
      about: cause.about,
      woken: cause.woken.filter((each) => each > 0 && each <= revision()),
      tookMs: Math.max(0, clock.now() - cause.startedAt),
      decided: cause.decided,
      calls: cause.calls,
      claimed: isClaimed(cause, user.name),
      foreignClock: original.remoteAddress !== undefined,
    });
    return id;
  }

  function isClaimed(cause: Cause, user: string): boolean {
    return !vouchesFor(user, cause.actor) || cause.woken.some((each) => each > revision());
  }
}

function recordOf(
  { info, user, original, annotations }: Exchange,
  response: ApiResponse,
  at: number,
  tookMs: number,
  cause: string | undefined,
): Unnumbered<RequestRecord> {
  const { status } = response;
  const authorization = authorizationOf(annotations.get(REASON));
  const reason = status < 400 ? undefined : reasonOf(response);
  return {
    type: "request",
    at,
    actor: actorOf(user.name, original.headers["user-agent"] ?? ""),
    user: user.name,
    verb: info.verb,
    resource: info.apiGroup === "" ? info.resource : `${info.apiGroup}/${info.resource}`,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    status,
    tookMs,
    ...(reason !== undefined && { reason }),
    ...(authorization !== undefined && { authorization }),
    ...(cause !== undefined && { cause }),
  };
}

/** `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "u"` in a few words. */
function authorizationOf(reason: string | undefined): string | undefined {
  if (reason === undefined || reason === "") return undefined;
  const role = /of (?:Cluster)?Role "([^"]+)"/.exec(reason)?.[1];
  return role === undefined ? reason.slice(0, 80) : `RBAC ${role}`;
}

/** As the Status in the answer says. */
function reasonOf(response: ApiResponse): string | undefined {
  if (!("body" in response)) return undefined;
  const text = response.body[0]?.toString("utf8", 0, 2048) ?? "";
  return /"reason":"(\w+)"/.exec(text)?.[1];
}
