/**
 * A request on its way through the pipeline, with what the steps so far have found out. It is one object; its type says
 * how far it has come:
 *
 *     Arrived ── request info ──► Received ── authenticate ──► Authenticated
 *                                                  ── impersonate ──► Attributed ── authorize ──► Authorized
 *
 * A step that wraps the answer may look afterwards at what later steps have added: those fields are optional in its
 * type, since a request may be refused on the way.
 */
import type { Kind } from "#api";
import type { Span } from "#tracing";
import type { Attributes } from "../authz/attributes.ts";
import type { Verdict } from "../authz/verdict.ts";
import type { ApiRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { ANONYMOUS, type UserInfo } from "../identity/user.ts";
import type { AnyDraft } from "../rest/draft.ts";
import type { RequestWitness } from "../rest/server-context.ts";

export interface Arrived {
  /** As it came. */
  readonly original: ApiRequest;
  /** Headers of the answer, whatever the answer is. */
  readonly headers: Record<string, string>;
  /** Sent to the caller with the answer. */
  warn(message: string): void;
  /** For the audit log. A key that is set stays as it is. `level`: only where bodies of requests are audited, too. */
  annotate(key: string, value: string, level?: "Request"): void;
  /** What `annotate` collected: complete once there is an answer. */
  readonly annotations?: ReadonlyMap<string, string> | undefined;
  readonly bodyAnnotations?: ReadonlyMap<string, string> | undefined;
  /** What `warn` collected. */
  readonly warnings?: readonly string[] | undefined;
  received(original: ApiRequest, info: RequestInfo): Received;
}

export interface Received extends Arrived {
  readonly info: RequestInfo;
  /** The `timeout` of its query. */
  timeoutMs?: number | undefined;
  /** It took too long, and has been answered so. */
  isOver: boolean;
  /** How long it waited for others than this server: for webhooks, or in a queue of fairness. */
  waitedMs: number;
  /** The size of its body, once that was read. */
  bodyBytes: number;
  authenticated(caller: UserInfo): Authenticated;
}

export interface Authenticated extends Received {
  /** Who sent it. */
  readonly caller: UserInfo;
  /** In whose name it is answered: the caller's, unless somebody is impersonated. */
  readonly user: UserInfo;
  /** The verb of a constrained impersonation; else empty. */
  readonly constraint: string;
  readonly verdict?: Verdict | undefined;
  /** Sees the body of the request. */
  observer?: BodyObserver | undefined;
  /** Sees how admission decides, and what is written. */
  witness?: RequestWitness | undefined;
  /** Its span, if it is traced. */
  span?: Span | undefined;
  attributed(request: ApiRequest, attributes: Attributes, constraint: string): Attributed;
}

export interface Attributed extends Authenticated {
  /** As the verbs see it: in the user's name, without credentials. */
  readonly request: ApiRequest;
  /** What authorization is asked. */
  readonly attributes: Attributes;
  /** What fairness holds for it. Released early if another server serves it. */
  held?: { release(): void } | undefined;
  authorized(verdict: Verdict): Authorized;
}

export interface Authorized extends Attributed {
  readonly verdict: Verdict;
}

export interface BodyObserver {
  /** The body, where it was read. */
  body?(bytes: Buffer): void;
  /** The decoded object, before anything is added. It must be neither changed nor kept. */
  object(draft: AnyDraft, kind: Kind): void;
}

/** One class with all fields from the start: objects of one shape are fast, and no step makes a copy. */
export class RequestExchange implements Authorized {
  original: ApiRequest;
  info!: RequestInfo;
  caller = ANONYMOUS;
  user = ANONYMOUS;
  constraint = "";
  request!: ApiRequest;
  attributes!: Attributes;
  verdict!: Verdict;
  annotations: Map<string, string> | undefined = undefined;
  bodyAnnotations: Map<string, string> | undefined = undefined;
  readonly headers: Record<string, string> = {};
  warnings: string[] | undefined = undefined;
  observer: BodyObserver | undefined = undefined;
  held: { release(): void } | undefined = undefined;
  timeoutMs: number | undefined = undefined;
  isOver = false;
  waitedMs = 0;
  bodyBytes = 0;
  witness: RequestWitness | undefined = undefined;
  span: Span | undefined = undefined;

  constructor(original: ApiRequest) {
    this.original = original;
  }

  received(original: ApiRequest, info: RequestInfo): Received {
    this.original = original;
    this.info = info;
    return this;
  }

  authenticated(caller: UserInfo): Authenticated {
    this.caller = this.user = caller;
    return this;
  }

  attributed(request: ApiRequest, attributes: Attributes, constraint: string): Attributed {
    this.request = request;
    this.attributes = attributes;
    this.user = attributes.user;
    this.constraint = constraint;
    return this;
  }

  authorized(verdict: Verdict): Authorized {
    this.verdict = verdict;
    return this;
  }

  warn(message: string): void {
    this.warnings ??= [];
    this.warnings.push(message);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    if (level === "Request") this.bodyAnnotations ??= new Map();
    else this.annotations ??= new Map();
    const noted = level === "Request" ? this.bodyAnnotations : this.annotations;
    if (noted?.has(key) === false) noted.set(key, value);
  }
}
