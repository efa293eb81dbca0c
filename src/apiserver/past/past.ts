/**
 * Reads of past state: the revision that a request names, and the errors if it cannot be read.
 *
 *     /k8ts/at/WHEN/api/v1/pods  ──► /api/v1/pods?k8ts-at=WHEN ──► the pipeline as always ──► get, list at the revision
 *
 * 1. Past state is read-only: everything but get and list is refused, so that nobody takes the present for the past.
 * 2. Authorization uses the rules of now, and asks for a right of its own: see `pipeline/past-access.ts`.
 */
import { badRequest, expired, StatusError } from "#api";
import type { Clock } from "#base";
import { isStoreError, type Revision } from "#store";
import type { ApiRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { parseMoment } from "./moment.ts";
import type { Timeline } from "./timeline.ts";

export const AT = "k8ts-at";
const PREFIX = "/k8ts/at/";

/** What a server knows of its past. */
export interface Past {
  readonly timeline: Timeline;
  /** How long history is kept. */
  readonly windowMs: number;
}

export interface AsOf {
  readonly revision: Revision;
  /** When that was, where it is known. */
  readonly atMs: number | undefined;
}

/** Turns the path prefix of a moment into the query parameter. */
export function withoutPrefix(request: ApiRequest): ApiRequest {
  const { path } = request;
  if (!path.startsWith(PREFIX)) return request;
  const slash = path.indexOf("/", PREFIX.length);
  const end = slash === -1 ? path.length : slash;
  const query = new URLSearchParams(request.query);
  query.set(AT, decoded(path.slice(PREFIX.length, end)));
  return new PastRequest(request, path.slice(end) || "/", query);
}

/** What cannot be decoded is no moment either: reading it is refused, once it is known who asks. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A class, as requests have getters. */
class PastRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: ApiRequest["headers"];
  readonly target?: string;
  readonly rawHeaders?: readonly string[];
  readonly remoteAddress?: string | undefined;
  readonly user?: NonNullable<ApiRequest["user"]>;
  readonly certificate?: NonNullable<ApiRequest["certificate"]>;
  readonly #request: ApiRequest;

  constructor(request: ApiRequest, path: string, query: URLSearchParams) {
    const { method, headers, target, rawHeaders, remoteAddress, user, certificate } = request;
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    if (target !== undefined) this.target = target;
    if (rawHeaders !== undefined) this.rawHeaders = rawHeaders;
    if (remoteAddress !== undefined) this.remoteAddress = remoteAddress;
    if (user !== undefined) this.user = user;
    if (certificate !== undefined) this.certificate = certificate;
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  body(limit: number): Promise<Buffer> {
    return this.#request.body(limit);
  }
}

const READABLE = new Set(["", "status"]);

/** Throws for what past state does not offer. */
export function demandRead({ verb, resource, subresource }: RequestInfo): void {
  if ((verb === "get" || verb === "list") && READABLE.has(subresource)) return;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  if (verb === "watch") throw refused(`past state does not change: ${what} cannot be watched`);
  throw refused(`past state is read-only (get and list): no ${verb} of ${what}`);
}

export function refused(words: string): StatusError {
  return new StatusError("MethodNotAllowed", `${AT}: ${words}`);
}

/** The revision of a moment. Throws the error for the client. */
export function asOf(text: string, { timeline }: Past, newest: Revision, clock: Clock): AsOf {
  const now = clock.now();
  const moment = parseMoment(text, now);
  if ("revision" in moment) {
    if (moment.revision > newest)
      throw badRequest(`${AT}: revision ${moment.revision} does not exist yet: the newest is ${newest}`);
    const { atMs } = timeline.of(moment.revision) ?? {};
    return { revision: moment.revision, atMs };
  }
  const mark = timeline.at(moment.atMs);
  if (mark !== undefined) return { revision: mark.revision, atMs: moment.atMs };
  const { oldest } = timeline;
  const since =
    oldest === undefined ? "" : `: times are known since ${timeOf(oldest.atMs)} (revision ${oldest.revision})`;
  throw expired(`${AT}: the revision at ${timeOf(moment.atMs)} is not known${since}`);
}

/** The error for a revision that the store has compacted. Other errors stay as they are. */
export function gone(error: unknown, revision: Revision): unknown {
  if (!isStoreError(error, "Compacted")) return error;
  const { compactRevision } = error;
  const from = compactRevision === undefined ? "" : `, history goes back to revision ${compactRevision}`;
  return expired(`${AT}: the state at revision ${revision} is no longer kept${from} (--history-window)`);
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
