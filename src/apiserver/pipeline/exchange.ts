/** What the steps of the pipeline hand on: a request on its way, with what is known of it so far. */
import type { Kind } from "#api";
import type { Attributes } from "../authz/attributes.ts";
import type { Verdict } from "../authz/verdict.ts";
import type { Answering, ApiRequest, SharedHeaders } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { ANONYMOUS, type UserInfo } from "../identity/user.ts";
import type { AnyDraft } from "../rest/prepare.ts";
import type { RequestWitness } from "../rest/server-context.ts";

/** A request on its way: what the steps before it have found out. */
export interface Exchange {
  /** As it came. */
  readonly original: ApiRequest;
  /** As the verbs see it: in the user's name, and without what that was known by. From impersonation on. */
  request: ApiRequest;
  readonly info: RequestInfo;
  /** Who sent it. */
  readonly caller: UserInfo;
  /** In whose name it is answered: the caller's, unless that has impersonated somebody. */
  user: UserInfo;
  /** The verb by which somebody was impersonated, if that was a constrained one. */
  constraint: string;
  /** What authorization is asked. From impersonation on. */
  attributes?: Attributes;
  /** What authorization has said. */
  verdict?: Verdict;
  /** What others who served it noted for audit, such as admission plugins: complete once there is an answer. Most have nothing to note. */
  readonly annotations?: ReadonlyMap<string, string> | undefined;
  /** As these, for where the bodies of requests are kept, too: they show what is in them. */
  readonly bodyAnnotations?: ReadonlyMap<string, string> | undefined;
  /** When the monotonic clock was last read for it, if nothing has been waited for since: good enough for who is asked in the same call. */
  readMs?: number | undefined;
  /** Go with the answer, whatever that is. */
  readonly headers: Record<string, string>;
  /** So do these. */
  shared?: SharedHeaders | undefined;
  /** Somebody who wants to see what the request brings. */
  observer?: BodyObserver;
  /** What is held for it here. It is released early if another server works on it. */
  held?: { release(): void } | undefined;
  /** Another server works on it. */
  isElsewhere?: boolean;
  /** Somebody wants to know how admission decides about it, and what it writes. */
  witness?: RequestWitness;
  /** To the caller, whatever the answer is. */
  warn(message: string): void;
  /** For audit. What has been noted stays. `level`: only where the bodies of requests are kept, too. */
  annotate(key: string, value: string, level?: "Request"): void;
}

export interface BodyObserver {
  /** The body, where it was read. */
  body?(bytes: Buffer): void;
  /** The object that was in it, before anything has been added: not to be changed, and not to be kept. */
  object(draft: AnyDraft, kind: Kind): void;
}

export class PassingExchange implements Exchange {
  readonly original: ApiRequest;
  request: ApiRequest;
  readonly info: RequestInfo;
  caller = ANONYMOUS;
  user = ANONYMOUS;
  constraint = "";
  attributes?: Attributes;
  verdict?: Verdict;
  annotations: Map<string, string> | undefined = undefined;
  bodyAnnotations: Map<string, string> | undefined = undefined;
  readMs: number | undefined = undefined;
  readonly headers: Record<string, string> = {};
  shared: SharedHeaders | undefined = undefined;
  warnings: string[] | undefined = undefined;
  observer?: BodyObserver;
  held?: { release(): void } | undefined;
  isElsewhere = false;
  witness?: RequestWitness;

  constructor(request: ApiRequest, info: RequestInfo) {
    this.original = request;
    this.request = request;
    this.info = info;
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

/** What comes after a step. */
export type Next = (exchange: Exchange) => Answering;

/** A step between authentication and authorization, such as audit or fairness: it may look, wait, refuse, or wrap the answer. */
export type Step = (exchange: Exchange, next: Next) => Answering;

export const passThrough: Step = (exchange, next) => next(exchange);
