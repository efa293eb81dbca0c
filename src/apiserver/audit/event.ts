/**
 * Audit events as JSON. What all events of a request have in common is found once; what those of many requests have in common is a form.
 *
 * 1. Fields stand in the order in which the original has them.
 * 2. Objects are bytes, and stay so: what was sent to a client is what is written.
 * 3. Nothing is joined here: who writes a line may be in another thread.
 */

import { annotate } from "../authz/authorizer.ts";
import type { Verdict } from "../authz/verdict.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { LastAsked } from "../http/last-asked.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { type Blanks, type Form, filled, timeText } from "./line-template.ts";
import type { Level, Stage } from "./policy.ts";
import { sourceAddresses } from "./source-addresses.ts";
import {
  codeText,
  endText,
  escaped,
  happenedText,
  isPlain,
  isPlainTarget,
  member,
  quoted,
  receivedText,
  sourceText,
  stageText,
  startText,
  userText,
  verbText,
} from "./event-json.ts";
import { Usual } from "./common-fields.ts";

const TRUNCATED = "audit.k8s.io/truncated";

export type Piece = string | Buffer;

/** Takes a line: as a form that is filled in, or piece by piece. */
export interface Listener {
  fill(form: Form, blanks: Blanks, name: string, atMs: number): void;
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
  readonly requestObject?: readonly Piece[] | undefined;
  readonly responseObject?: readonly Piece[] | undefined;
  /** Authorization's. */
  readonly verdict?: Verdict | undefined;
  readonly annotations?: ReadonlyMap<string, string> | undefined;
  /** Those that go with the objects. */
  readonly bodyAnnotations?: ReadonlyMap<string, string> | undefined;
}

export interface EventHead extends Blanks {
  readonly level: Level;
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo | undefined;
  /** Path and query. */
  readonly target: string;
  /** If it does what others did before it. */
  readonly usual: Usual | undefined;
}

export class EventWriter {
  readonly #usuals = new WeakMap<UserInfo, WeakMap<object, Usual>>();
  readonly #users = new WeakMap<UserInfo, string>();
  #event: WrittenEvent | undefined;
  readonly #last = new LastAsked<Usual>();

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
    const own = request.headers["audit-id"] === undefined || isPlain(id);
    const usual = own && user !== undefined && target === path ? this.#usual(level, request, info, user) : undefined;
    return { level, id, request, info, user, target, isNamed: info.name !== "", receivedMs, usual };
  }

  /**
   * The form of both lines of a request that was answered at once by a code alone, and that does what others did before it. Undefined: it has
   * to be told event by event. `reason`: why it was allowed; undefined if nobody has said so.
   */
  both(
    level: Level,
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo,
    code: number,
    reason: string | undefined,
  ): Form | undefined {
    const { path, query } = request;
    const isPath = request.target === undefined ? query.size === 0 : request.target === path;
    return isPath ? this.#usual(level, request, info, user)?.both(code, reason, info.name !== "") : undefined;
  }

  /** Until the next one is asked for: none of them is kept. */
  event(head: EventHead, stage: Stage, atMs: number, found: Findings): AuditEvent {
    this.#event ??= new WrittenEvent(this, head, stage, atMs, found);
    const event = this.#event;
    event.head = head;
    event.stage = stage;
    event.atMs = atMs;
    event.found = found;
    return event;
  }

  /** `whole`: with its objects. */
  tell(listener: Listener, event: WrittenEvent, whole: boolean): void {
    const { head, atMs, found } = event;
    const name = head.info.name || (found.sent?.name ?? "");
    const form = whole ? usualForm(event, name) : undefined;
    if (form === undefined) this.#spell(listener, event, whole);
    else listener.fill(form, head, name, atMs);
  }

  #spell(listener: Listener, { head, stage, atMs, found }: WrittenEvent, whole: boolean): void {
    const { impersonated, constraint, sent, status, requestObject, responseObject } = found;
    const { level, id, target, info, user } = head;
    listener.add(startText(level) + escaped(id) + stageText(stage) + escaped(target) + verbText(info.verb));
    listener.add(`,"user":${user === undefined ? "{}" : this.#user(user)}`);
    if (impersonated !== undefined) listener.add(`,"impersonatedUser":${this.#user(impersonated)}`);
    if (constraint) listener.add(`,"authenticationMetadata":{"impersonationConstraint":${quoted(constraint)}}`);
    listener.add(sourceText(sourceAddresses(head.request), head.request.headers["user-agent"] ?? ""));
    if (info.isResourceRequest) listener.add(objectRef(info, sent));
    if (status !== undefined)
      listener.add(typeof status === "number" ? codeText(status) : `,"responseStatus":${status}`);
    if (whole && requestObject !== undefined) tellAll(listener, ',"requestObject":', requestObject);
    if (whole && responseObject !== undefined) tellAll(listener, ',"responseObject":', responseObject);
    listener.add(receivedText + timeText(head.receivedMs) + happenedText + timeText(atMs));
    listener.add(endText(allAnnotations(found, whole)));
  }

  #usual(level: Level, request: ApiRequest, info: RequestInfo, user: UserInfo): Usual | undefined {
    const { topic } = info;
    const { headers, remoteAddress = "" } = request;
    const agent = headers["user-agent"] ?? "";
    if (topic === undefined || headers["x-forwarded-for"] !== undefined || headers["x-real-ip"] !== undefined)
      return undefined;
    let known = this.#last.get(user, topic);
    if (known === undefined) {
      known = this.#usuals.get(user)?.get(topic);
      if (known !== undefined) this.#last.set(user, topic, known);
    }
    // What stands before the name was looked at when the first such request came.
    if (known?.isOf(level, remoteAddress, agent)) return isPlainTarget(info.name) ? known : undefined;
    if (!isPlainTarget(request.path)) return undefined;
    const source = sourceText(sourceAddresses(request), agent);
    const who = `${verbText(info.verb)},"user":${this.#user(user)}${source}`;
    const usual = new Usual(level, { address: remoteAddress, agent }, startText(level), who, info);
    const topics = this.#usuals.get(user) ?? new WeakMap<object, Usual>();
    this.#usuals.set(user, topics.set(topic, usual));
    this.#last.set(user, topic, usual);
    return usual;
  }

  #user(user: UserInfo): string {
    const known = this.#users.get(user) ?? userText(user);
    this.#users.set(user, known);
    return known;
  }
}

/** Undefined where a line says more than a form has room for. */
function usualForm({ head, stage, found }: WrittenEvent, name: string): Form | undefined {
  const { usual, info } = head;
  const { impersonated, constraint, sent, status, requestObject, responseObject, verdict } = found;
  if (usual === undefined || typeof status === "string" || impersonated !== undefined || constraint) return undefined;
  if (requestObject !== undefined || responseObject !== undefined || found.annotations !== undefined) return undefined;
  if (found.bodyAnnotations !== undefined || (verdict !== undefined && verdict.decision !== "allow")) return undefined;
  if (sent !== undefined && (sent.uid || sent.resourceVersion || (sent.namespace && info.namespace === "")))
    return undefined;
  if (info.name === "" && !isPlain(name)) return undefined;
  return usual.form(stage, status, verdict?.reason, name !== "");
}

function allAnnotations({ verdict, annotations, bodyAnnotations }: Findings, whole: boolean): Map<string, string> {
  const all = new Map(annotations);
  if (verdict !== undefined) annotate(verdict, all);
  for (const [key, value] of bodyAnnotations ?? []) all.set(key, value);
  if (!whole) all.set(TRUNCATED, "true");
  return all;
}

function objectRef(info: RequestInfo, sent: ObjectIdentity = {}): string {
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info;
  const fields =
    member("resource", resource) +
    member("namespace", namespace || sent.namespace) +
    member("name", name || sent.name) +
    member("uid", sent.uid) +
    member("apiGroup", apiGroup) +
    member("apiVersion", apiVersion) +
    member("resourceVersion", sent.resourceVersion) +
    member("subresource", subresource);
  return `,"objectRef":{${fields.slice(1)}}`;
}

class WrittenEvent implements AuditEvent {
  readonly #writer: EventWriter;
  head: EventHead;
  stage: Stage;
  atMs: number;
  found: Findings;
  readonly #whole: boolean;

  constructor(writer: EventWriter, head: EventHead, stage: Stage, atMs: number, found: Findings, whole = true) {
    this.#writer = writer;
    this.head = head;
    this.stage = stage;
    this.atMs = atMs;
    this.found = found;
    this.#whole = whole;
  }

  tell(listener: Listener): void {
    this.#writer.tell(listener, this, this.#whole);
  }

  truncated(): AuditEvent | undefined {
    const { requestObject, responseObject } = this.found;
    if (requestObject === undefined && responseObject === undefined) return undefined;
    return new WrittenEvent(this.#writer, this.head, this.stage, this.atMs, this.found, false);
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
    fill: (...line) => {
      text += filled(...line);
    },
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
