/**
 * Audit events as JSON, in pieces. What all events of a request have in common is found once.
 *
 * 1. Fields stand in the order in which the original has them.
 * 2. Objects are bytes, and stay so: what was sent to a client is what is written.
 * 3. Nothing is joined here: most of a line are phrases that were said before, and who writes it may be in another thread.
 */
import type { UserInfo } from "../authn/user.ts";
import type { ApiRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { Phrase, Phrases } from "./phrase.ts";
import type { Level, Stage } from "./policy.ts";
import { sourceAddresses } from "./source-addresses.ts";

const MAX_USER_AGENT = 1024;
const TRUNCATED = "audit.k8s.io/truncated";
const DECISION = "authorization.k8s.io/decision";
const REASON = "authorization.k8s.io/reason";

export type Piece = string | Buffer | Phrase;

/** One line of the log, without its end. */
export interface AuditEvent {
  readonly pieces: readonly Piece[];
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
  /** JSON; of most answers the code alone. */
  readonly status?: string | number | undefined;
  readonly requestObject?: readonly (string | Buffer)[] | undefined;
  readonly responseObject?: readonly (string | Buffer)[] | undefined;
  readonly annotations?: readonly ReadonlyMap<string, string>[];
}

export interface EventHead {
  readonly info: RequestInfo;
  readonly level: Phrase;
  readonly id: string;
  readonly target: string;
  /** It stands there as it came: what was read from it can do so, too. */
  readonly plain: boolean;
  readonly verb: Phrase;
  readonly user: Phrase;
  readonly source: Piece;
  readonly received: string;
}

/** objectRef before and after the name, and without one. */
interface AroundName {
  readonly before: Phrase;
  readonly after: Phrase;
  readonly nameless: Phrase;
}

const RECEIVED = new Phrase(',"requestReceivedTimestamp":"');
const HAPPENED = new Phrase('","stageTimestamp":"');
const END = new Phrase('"}');
const NOBODY = new Phrase("{}");

export class EventWriter {
  readonly #levels = new Phrases<Level>(
    (level) => `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":"`,
  );
  readonly #stages = new Phrases<Stage>((stage) => `","stage":"${stage}","requestURI":"`);
  readonly #verbs = new Phrases<string>((verb) => `","verb":${quoted(verb)},"user":`);
  readonly #codes = new Phrases<number>((code) => `,"responseStatus":{"metadata":{},"code":${code}}`);
  /** By the address, then by the agent. */
  readonly #sources = new Map<string, Phrases<string>>();
  /** By the reason for which a request was allowed, where nothing else was noted. */
  readonly #allowed = new Phrases<string>((reason) =>
    endText(
      new Map([
        [DECISION, "allow"],
        [REASON, reason],
      ]),
    ),
  );
  readonly #users = new WeakMap<UserInfo, Phrase>();
  /** By what requests are about. */
  readonly #refs = new WeakMap<object, AroundName>();
  #time = { ms: Number.NaN, text: "" };
  #second = { number: Number.NaN, text: "" };

  /** What all events of a request begin with. `user`: undefined for one who could not show who it is. */
  begin(
    level: Level,
    id: string,
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo | undefined,
    receivedMs: number,
  ): EventHead {
    const { path, query } = request;
    const target = request.target ?? (query.size === 0 ? path : `${path}?${query}`);
    const plain = PLAIN_TARGET.test(target);
    return {
      info,
      level: this.#levels.of(level),
      id: escaped(id),
      target: plain ? target : escaped(target),
      plain,
      verb: this.#verbs.of(info.verb),
      user: user === undefined ? NOBODY : this.#user(user),
      source: this.#source(request),
      received: this.#micros(receivedMs),
    };
  }

  event(head: EventHead, stage: Stage, nowMs: number, found: Findings): AuditEvent {
    const { impersonated, constraint, sent, status, requestObject, responseObject, annotations } = found;
    const pieces: Piece[] = [head.level, head.id, this.#stages.of(stage), head.target, head.verb, head.user];
    if (impersonated !== undefined) pieces.push(',"impersonatedUser":', this.#user(impersonated));
    if (constraint) pieces.push(`,"authenticationMetadata":{"impersonationConstraint":${quoted(constraint)}}`);
    pieces.push(head.source);
    if (head.info.isResourceRequest) this.#objectRef(pieces, head, sent);
    if (typeof status === "number") pieces.push(this.#codes.of(status));
    else if (status !== undefined) pieces.push(`,"responseStatus":${status}`);
    const now = this.#micros(nowMs);
    if (requestObject === undefined && responseObject === undefined) {
      pieces.push(RECEIVED, head.received, HAPPENED, now, annotations === undefined ? END : this.#end(annotations));
      return new WrittenEvent(pieces);
    }
    const short = [...pieces, RECEIVED, head.received, HAPPENED, now];
    if (requestObject !== undefined) pieces.push(',"requestObject":', ...requestObject);
    if (responseObject !== undefined) pieces.push(',"responseObject":', ...responseObject);
    pieces.push(RECEIVED, head.received, HAPPENED, now, this.#end(annotations ?? []));
    const truncated = [...(annotations ?? []), new Map([[TRUNCATED, "true"]])];
    return new WrittenEvent(pieces, () => [...short, this.#end(truncated)]);
  }

  #user(user: UserInfo): Phrase {
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const { name, uid, groups, extra } = user;
    const phrase = new Phrase(
      JSON.stringify({
        username: name,
        ...(uid && { uid }),
        ...(groups.length > 0 && { groups }),
        ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
      }),
    );
    this.#users.set(user, phrase);
    return phrase;
  }

  #source(request: ApiRequest): Piece {
    const { headers, remoteAddress = "" } = request;
    const agent = headers["user-agent"] ?? "";
    if (headers["x-forwarded-for"] !== undefined || headers["x-real-ip"] !== undefined || agent.length > MAX_USER_AGENT)
      return sourceText(sourceAddresses(request), agent);
    let known = this.#sources.get(remoteAddress);
    if (known === undefined) {
      const addresses = sourceAddresses(request);
      known = new Phrases((agent) => sourceText(addresses, agent));
      if (this.#sources.size >= REMEMBERED_ADDRESSES) this.#sources.clear();
      this.#sources.set(remoteAddress, known);
    }
    return known.of(agent);
  }

  #objectRef(pieces: Piece[], { info, plain }: EventHead, sent = UNSENT): void {
    const { topic } = info;
    const movable = !sent.uid && !sent.resourceVersion && (info.namespace !== "" || !sent.namespace);
    if (topic === undefined || !plain || !movable) {
      pieces.push(objectRef(info, plain, sent));
      return;
    }
    let around = this.#refs.get(topic);
    if (around === undefined) {
      around = aroundName(info);
      this.#refs.set(topic, around);
    }
    const name = info.name === "" ? escaped(sent.name ?? "") : info.name;
    if (name === "") pieces.push(around.nameless);
    else pieces.push(around.before, name, around.after);
  }

  #end(maps: readonly ReadonlyMap<string, string>[]): Piece {
    const [only] = maps;
    if (maps.length === 1 && only !== undefined) {
      if (only.size === 0) return END;
      const reason = only.size === 2 && only.get(DECISION) === "allow" ? only.get(REASON) : undefined;
      if (reason !== undefined) return this.#allowed.of(reason);
    }
    return endText(new Map(maps.flatMap((map) => [...map])));
  }

  #micros(ms: number): string {
    const time = this.#time;
    if (time.ms === ms) return time.text;
    const number = Math.floor(ms / 1000);
    const second = this.#second;
    if (second.number !== number) {
      second.number = number;
      second.text = new Date(number * 1000).toISOString().slice(0, -4);
    }
    time.ms = ms;
    time.text = `${second.text}${String(Math.floor(ms) - number * 1000).padStart(3, "0")}000Z`;
    return time.text;
  }
}

const REMEMBERED_ADDRESSES = 1_000;

/** From the last time on: annotations, in the order of their keys. */
function endText(annotations: ReadonlyMap<string, string>): string {
  if (annotations.size === 0) return END.text;
  const sorted = [...annotations].sort(([a], [b]) => (a < b ? -1 : 1));
  return `","annotations":{${sorted.map(([key, value]) => `${quoted(key)}:${quoted(value)}`).join(",")}}}`;
}

function sourceText(addresses: readonly string[], agent: string): string {
  const shown = agent.length > MAX_USER_AGENT ? `${agent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : agent;
  return `,"sourceIPs":[${addresses.map(quoted).join(",")}]${shown === "" ? "" : `,"userAgent":${quoted(shown)}`}`;
}

const UNSENT: ObjectIdentity = {};

function objectRef(info: RequestInfo, plain: boolean, sent: ObjectIdentity): string {
  const quote = plain ? asIs : quoted;
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info;
  const fields =
    member("resource", resource, quote) +
    (namespace === "" ? member("namespace", sent.namespace, quoted) : member("namespace", namespace, quote)) +
    (name === "" ? member("name", sent.name, quoted) : member("name", name, quote)) +
    member("uid", sent.uid, quoted) +
    member("apiGroup", apiGroup, quote) +
    member("apiVersion", apiVersion, quote) +
    member("resourceVersion", sent.resourceVersion, quoted) +
    member("subresource", subresource, quote);
  return `,"objectRef":{${fields.slice(1)}}`;
}

/** Of a request whose path has nothing that is written in another way. */
function aroundName({ resource, namespace, apiGroup, apiVersion, subresource }: RequestInfo): AroundName {
  const before = `,"objectRef":{"resource":"${resource}"${member("namespace", namespace, asIs)}`;
  const group = member("apiGroup", apiGroup, asIs);
  const after = `${group}${member("apiVersion", apiVersion, asIs)}${member("subresource", subresource, asIs)}}`;
  return {
    before: new Phrase(`${before},"name":"`),
    after: new Phrase(`"${after}`),
    nameless: new Phrase(before + after),
  };
}

function member(name: string, value: string | undefined, quote: (text: string) => string): string {
  return value ? `,"${name}":${quote(value)}` : "";
}

class WrittenEvent implements AuditEvent {
  readonly pieces: readonly Piece[];
  readonly #short: (() => readonly Piece[]) | undefined;

  constructor(pieces: readonly Piece[], short?: () => readonly Piece[]) {
    this.pieces = pieces;
    this.#short = short;
  }

  get bytes(): number {
    return this.pieces.reduce((sum: number, piece) => sum + bytesOf(piece).length, 0);
  }

  truncated(): AuditEvent | undefined {
    return this.#short && new WrittenEvent(this.#short());
  }
}

export function bytesOf(piece: Piece): Buffer {
  return Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece));
}

/** Most texts have nothing that JSON writes in another way. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** As these, and nothing that stands for something else. */
const PLAIN_TARGET = /^[\x20\x21\x23\x24\x26-\x5b\x5d-\x7e]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Between quotation marks. Most texts stay as they are, and in one piece. */
function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

function asIs(text: string): string {
  return `"${text}"`;
}
