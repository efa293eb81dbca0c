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
import { Moment, Phrase, Phrases, Said } from "./phrase.ts";
import type { Level, Stage } from "./policy.ts";
import { sourceAddresses } from "./source-addresses.ts";

const MAX_USER_AGENT = 1024;
const TRUNCATED = "audit.k8s.io/truncated";
const DECISION = "authorization.k8s.io/decision";
const REASON = "authorization.k8s.io/reason";

export type Piece = string | Buffer | Phrase | Said | Moment;

/** Takes a line, piece by piece. */
export interface Listener {
  add(piece: Piece): void;
}

/** One line of the log, without its end. */
export interface AuditEvent {
  tell(listener: Listener): void;
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
  readonly id: Said;
  readonly target: Said;
  /** The target stands there as it came: what was read from it can do so, too. */
  readonly plain: boolean;
  /** Of the object, as the path says: only where that is plain. */
  readonly name: Said | undefined;
  readonly verb: Phrase;
  readonly user: Phrase;
  readonly source: Piece;
  readonly received: Moment;
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
  /** Many events are of the same millisecond. */
  #last = new Moment(Number.NaN);

  /** What all events of a request begin with. `id`: its own, as it stands in JSON. `user`: undefined for one who could not show who it is. */
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
    // What stands before the name was looked at when the first such request came.
    const known = info.topic !== undefined && target === path && this.#refs.has(info.topic);
    const plain = PLAIN_TARGET.test(known ? info.name : target);
    return {
      info,
      level: this.#levels.of(level),
      id: new Said(id),
      target: new Said(plain ? target : escaped(target)),
      plain,
      name: plain && info.name !== "" ? new Said(info.name) : undefined,
      verb: this.#verbs.of(info.verb),
      user: user === undefined ? NOBODY : this.#user(user),
      source: this.#source(request),
      received: this.#moment(receivedMs),
    };
  }

  event(head: EventHead, stage: Stage, nowMs: number, found: Findings): AuditEvent {
    return new WrittenEvent(this, head, stage, this.#moment(nowMs), found);
  }

  /** `whole`: with its objects. */
  tell(
    listener: Listener,
    { head, stage, at, found }: Pick<WrittenEvent, "head" | "stage" | "at" | "found">,
    whole: boolean,
  ): void {
    const { impersonated, constraint, sent, status, requestObject, responseObject, annotations } = found;
    listener.add(head.level);
    listener.add(head.id);
    listener.add(this.#stages.of(stage));
    listener.add(head.target);
    listener.add(head.verb);
    listener.add(head.user);
    if (impersonated !== undefined) {
      listener.add(',"impersonatedUser":');
      listener.add(this.#user(impersonated));
    }
    if (constraint) listener.add(`,"authenticationMetadata":{"impersonationConstraint":${quoted(constraint)}}`);
    listener.add(head.source);
    if (head.info.isResourceRequest) this.#objectRef(listener, head, sent);
    if (typeof status === "number") listener.add(this.#codes.of(status));
    else if (status !== undefined) listener.add(`,"responseStatus":${status}`);
    if (whole && requestObject !== undefined) tellAll(listener, ',"requestObject":', requestObject);
    if (whole && responseObject !== undefined) tellAll(listener, ',"responseObject":', responseObject);
    listener.add(RECEIVED);
    listener.add(head.received);
    listener.add(HAPPENED);
    listener.add(at);
    if (!whole) listener.add(this.#end([...(annotations ?? []), new Map([[TRUNCATED, "true"]])]));
    else listener.add(annotations === undefined ? END : this.#end(annotations));
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

  #objectRef(listener: Listener, { info, plain, name: asked }: EventHead, sent = UNSENT): void {
    const { topic } = info;
    const movable = !sent.uid && !sent.resourceVersion && (info.namespace !== "" || !sent.namespace);
    if (topic === undefined || !plain || !movable) {
      listener.add(objectRef(info, plain, sent));
      return;
    }
    let around = this.#refs.get(topic);
    if (around === undefined) {
      around = aroundName(info);
      this.#refs.set(topic, around);
    }
    const name = asked ?? escaped(sent.name ?? "");
    if (name === "") listener.add(around.nameless);
    else {
      listener.add(around.before);
      listener.add(name);
      listener.add(around.after);
    }
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

  #moment(ms: number): Moment {
    if (this.#last.ms !== ms) this.#last = new Moment(ms);
    return this.#last;
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
  readonly #writer: EventWriter;
  readonly head: EventHead;
  readonly stage: Stage;
  readonly at: Moment;
  readonly found: Findings;
  readonly #whole: boolean;

  constructor(writer: EventWriter, head: EventHead, stage: Stage, at: Moment, found: Findings, whole = true) {
    this.#writer = writer;
    this.head = head;
    this.stage = stage;
    this.at = at;
    this.found = found;
    this.#whole = whole;
  }

  tell(listener: Listener): void {
    this.#writer.tell(listener, this, this.#whole);
  }

  truncated(): AuditEvent | undefined {
    const { requestObject, responseObject } = this.found;
    if (requestObject === undefined && responseObject === undefined) return undefined;
    return new WrittenEvent(this.#writer, this.head, this.stage, this.at, this.found, false);
  }
}

function tellAll(listener: Listener, name: string, pieces: readonly Piece[]): void {
  listener.add(name);
  for (const piece of pieces) listener.add(piece);
}

/** The line as bytes, in parts. */
export function lineOf(event: AuditEvent): readonly Buffer[] {
  const parts: Buffer[] = [];
  let text = "";
  event.tell({
    add: (piece) => {
      if (!Buffer.isBuffer(piece)) {
        text += piece;
        return;
      }
      if (text !== "") parts.push(Buffer.from(text));
      text = "";
      parts.push(piece);
    },
  });
  if (text !== "") parts.push(Buffer.from(text));
  return parts;
}

export function byteLength(event: AuditEvent): number {
  return lineOf(event).reduce((sum, { length }) => sum + length, 0);
}

/** Most texts have nothing that JSON writes in another way. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** As these, and nothing that stands for something else. */
const PLAIN_TARGET = /^[\x20\x21\x23\x24\x26-\x5b\x5d-\x7e]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Between quotation marks. Most texts stay as they are, and in one piece. */
export function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

function asIs(text: string): string {
  return `"${text}"`;
}
