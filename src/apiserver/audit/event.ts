/**
 * Audit events as JSON. What all events of a request have in common is written once.
 *
 * 1. Fields stand in the order in which the original has them.
 * 2. Objects are bytes, and stay so: what was sent to a client is what is written.
 */
import type { UserInfo } from "../authn/user.ts";
import type { ApiRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Level, Stage } from "./policy.ts";
import { sourceAddresses } from "./source-addresses.ts";

const MAX_USER_AGENT = 1024;
const TRUNCATED = "audit.k8s.io/truncated";

/** One line of the log, without its end. */
export interface AuditEvent {
  readonly pieces: readonly (string | Buffer)[];
  readonly bytes: number;
  /** Without the objects, for where the whole is too large. Undefined if there are none. */
  truncated(): AuditEvent | undefined;
}

/** What objectRef says beyond the path, from the object that was sent. */
export interface ObjectIdentity {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** What is known of a request by and by. */
export interface Findings {
  readonly impersonated?: UserInfo | undefined;
  readonly constraint?: string;
  readonly sent?: ObjectIdentity | undefined;
  /** JSON. */
  readonly status?: string | undefined;
  readonly requestObject?: readonly (string | Buffer)[] | undefined;
  readonly responseObject?: readonly (string | Buffer)[] | undefined;
  readonly annotations?: readonly ReadonlyMap<string, string>[];
}

/** Annotations mostly say the same: why a rule allows something. */
const REMEMBERED_ANNOTATIONS = 1_000;

export class EventWriter {
  readonly #users = new WeakMap<UserInfo, string>();
  readonly #quoted = new Map<string, string>();
  #time = { ms: Number.NaN, text: "" };

  /** What all events of a request begin with. `user`: undefined for one who could not show who it is. */
  begin(
    level: Level,
    id: string,
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo | undefined,
    receivedMs: number,
  ): EventHead {
    const { headers, path, query } = request;
    const target = request.target ?? (query.size === 0 ? path : `${path}?${query}`);
    const agent = headers["user-agent"] ?? "";
    const shown = agent.length > MAX_USER_AGENT ? `${agent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : agent;
    return {
      info,
      objectRef: objectRef(info),
      level: `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":${quoted(id)},"stage":"`,
      request: `","requestURI":${quoted(target)},"verb":${quoted(info.verb)},"user":${user === undefined ? "{}" : this.#user(user)}`,
      received: `,"requestReceivedTimestamp":"${this.#micros(receivedMs)}","stageTimestamp":"`,
      source: `,"sourceIPs":[${sourceAddresses(request).map(quoted).join(",")}]${shown === "" ? "" : `,"userAgent":${quoted(shown)}`}`,
    };
  }

  event(head: EventHead, stage: Stage, nowMs: number, found: Findings): AuditEvent {
    const { impersonated, constraint, status, requestObject, responseObject } = found;
    const before =
      head.level +
      stage +
      head.request +
      (impersonated === undefined ? "" : `,"impersonatedUser":${this.#user(impersonated)}`) +
      (constraint ? `,"authenticationMetadata":{"impersonationConstraint":${quoted(constraint)}}` : "") +
      head.source +
      (found.sent === undefined ? head.objectRef : objectRef(head.info, found.sent)) +
      (status === undefined ? "" : `,"responseStatus":${status}`);
    const times = `${head.received}${this.#micros(nowMs)}"`;
    const notes = this.#annotations(found.annotations ?? []);
    if (requestObject === undefined && responseObject === undefined) return new TextEvent(`${before}${times}${notes}}`);
    const pieces = [
      before,
      ...(requestObject === undefined ? [] : [',"requestObject":', ...requestObject]),
      ...(responseObject === undefined ? [] : [',"responseObject":', ...responseObject]),
      `${times}${notes}}`,
    ];
    const truncated = () =>
      new TextEvent(
        `${before}${times}${this.#annotations([...(found.annotations ?? []), new Map([[TRUNCATED, "true"]])])}}`,
      );
    return { pieces, bytes: bytesOf(pieces), truncated };
  }

  #user(user: UserInfo): string {
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const { name, uid, groups, extra } = user;
    const text = JSON.stringify({
      username: name,
      ...(uid && { uid }),
      ...(groups.length > 0 && { groups }),
      ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
    });
    this.#users.set(user, text);
    return text;
  }

  /** In the order of their keys, which mostly is that in which they came. */
  #annotations(maps: readonly ReadonlyMap<string, string>[]): string {
    let text = "";
    let last = "";
    for (const map of maps) {
      for (const [key, value] of map) {
        if (key < last) return this.#annotations([sorted(maps)]);
        last = key;
        text += `${text === "" ? "" : ","}${this.#quote(key)}:${this.#quote(value)}`;
      }
    }
    return text === "" ? "" : `,"annotations":{${text}}`;
  }

  #quote(text: string): string {
    let known = this.#quoted.get(text);
    if (known === undefined) {
      known = quoted(text);
      if (this.#quoted.size >= REMEMBERED_ANNOTATIONS) this.#quoted.clear();
      this.#quoted.set(text, known);
    }
    return known;
  }

  #micros(ms: number): string {
    if (this.#time.ms !== ms) this.#time = { ms, text: `${new Date(ms).toISOString().slice(0, -1)}000Z` };
    return this.#time.text;
  }
}

function sorted(maps: readonly ReadonlyMap<string, string>[]): ReadonlyMap<string, string> {
  return new Map(maps.flatMap((map) => [...map]).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export interface EventHead {
  readonly info: RequestInfo;
  readonly objectRef: string;
  readonly level: string;
  readonly request: string;
  readonly source: string;
  readonly received: string;
}

function objectRef(info: RequestInfo, sent: ObjectIdentity = {}): string {
  if (!info.isResourceRequest) return "";
  const { resource, apiGroup, apiVersion, subresource } = info;
  const fields =
    member("resource", resource) +
    member("namespace", info.namespace || sent.namespace) +
    member("name", info.name || sent.name) +
    member("uid", sent.uid) +
    member("apiGroup", apiGroup) +
    member("apiVersion", apiVersion) +
    member("resourceVersion", sent.resourceVersion) +
    member("subresource", subresource);
  return `,"objectRef":{${fields.slice(1)}}`;
}

function member(name: string, value: string | undefined): string {
  return value ? `,"${name}":${quoted(value)}` : "";
}

/** Most have no objects: a text is all there is. */
class TextEvent implements AuditEvent {
  readonly pieces: readonly string[];

  constructor(text: string) {
    this.pieces = [text];
  }

  get bytes(): number {
    return Buffer.byteLength(this.pieces[0] ?? "");
  }

  truncated(): undefined {
    return undefined;
  }
}

function bytesOf(pieces: readonly (string | Buffer)[]): number {
  return pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? Buffer.byteLength(piece) : piece.length), 0);
}

/** Most texts have nothing that JSON writes in another way. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
