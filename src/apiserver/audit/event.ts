/**
 * Audit events as JSON.
 *
 * 1. Fields stand in the order in which Kubernetes writes them.
 * 2. Objects are bytes: an event has what was sent to the client.
 * 3. An event that differs from others only in its id, name and times is written as a template with these values: see
 *    line-template.ts. All others are written piece by piece. A test compares both.
 */
import { annotate } from "../authz/authorizer.ts";
import type { Verdict } from "../authz/verdict.ts";
import type { ApiRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { CommonFields } from "./common-fields.ts";
import {
  codeText,
  endText,
  escaped,
  happenedText,
  isPlain,
  isPlainPath,
  member,
  quoted,
  receivedText,
  sourceText,
  stageText,
  startText,
  userText,
  verbText,
} from "./event-json.ts";
import { type LineTemplate, type LineValues, lineFrom, timeText } from "./line-template.ts";
import type { Level, Stage } from "./policy.ts";
import { sourceAddresses } from "./source-addresses.ts";

const TRUNCATED = "audit.k8s.io/truncated";

export type Piece = string | Buffer;

/** Receives a line: as a template with its values, or piece by piece. */
export interface LineReceiver {
  template(template: LineTemplate, values: LineValues, name: string, atMs: number): void;
  piece(piece: Piece): void;
}

/** One line of the log, without its end. */
export interface AuditEvent {
  writeTo(receiver: LineReceiver): void;
  /** Without the objects, for where the whole is too large. Undefined if there are none. */
  truncated(): AuditEvent | undefined;
}

/** What objectRef has beyond the path, from the object that was sent. */
export interface ObjectIdentity {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** What becomes known of a request while it is served. */
export interface Findings {
  readonly impersonated?: UserInfo | undefined;
  readonly constraint?: string;
  readonly sent?: ObjectIdentity | undefined;
  /** JSON; of most answers the code alone. */
  readonly status?: string | number | undefined;
  readonly requestObject?: readonly Piece[] | undefined;
  readonly responseObject?: readonly Piece[] | undefined;
  /** Of authorization. */
  readonly verdict?: Verdict | undefined;
  readonly annotations?: ReadonlyMap<string, string> | undefined;
  /** Annotations that are written with the objects only. */
  readonly bodyAnnotations?: ReadonlyMap<string, string> | undefined;
}

/** What all events of a request have in common. */
export interface EventHead extends LineValues {
  readonly level: Level;
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  /** Undefined if authentication failed. */
  readonly user: UserInfo | undefined;
  /** Path and query. */
  readonly uri: string;
  /** What the events of similar requests have in common; undefined if this request differs from them in other ways. */
  readonly common: CommonFields | undefined;
}

export class EventWriter {
  readonly #common = new WeakMap<UserInfo, WeakMap<object, CommonFields>>();
  readonly #users = new WeakMap<UserInfo, string>();

  begin(
    level: Level,
    id: string,
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo | undefined,
    receivedMs: number,
  ): EventHead {
    const { path, query } = request;
    const uri = request.target ?? (query.size === 0 ? path : `${path}?${query}`);
    // An id of the client may have any characters.
    const hasOwnId = request.headers["audit-id"] !== undefined;
    const isCommon = user !== undefined && uri === path && !hasOwnId;
    const common = isCommon ? this.#commonFields(level, request, info, user) : undefined;
    return { level, id, request, info, user, uri, nameInUri: info.name !== "", receivedMs, common };
  }

  event(head: EventHead, stage: Stage, atMs: number, found: Findings): AuditEvent {
    return new RequestEvent(this, head, stage, atMs, found, true);
  }

  /** For its events. `whole`: with the objects. */
  write(receiver: LineReceiver, { head, stage, atMs, found, whole }: RequestEvent): void {
    const name = head.info.name || (found.sent?.name ?? "");
    const template = whole ? templateOf(head, stage, found, name) : undefined;
    if (template !== undefined) receiver.template(template, head, name, atMs);
    else this.#writePieces(receiver, head, stage, atMs, found, whole);
  }

  #writePieces(
    receiver: LineReceiver,
    { level, id, uri, info, user, request, receivedMs }: EventHead,
    stage: Stage,
    atMs: number,
    found: Findings,
    whole: boolean,
  ): void {
    const { impersonated, constraint, sent, status, requestObject, responseObject } = found;
    const write = (piece: Piece) => receiver.piece(piece);
    write(startText(level) + escaped(id) + stageText(stage) + escaped(uri) + verbText(info.verb));
    write(`,"user":${user === undefined ? "{}" : this.#userText(user)}`);
    if (impersonated !== undefined) write(`,"impersonatedUser":${this.#userText(impersonated)}`);
    if (constraint) write(`,"authenticationMetadata":{"impersonationConstraint":${quoted(constraint)}}`);
    write(sourceText(sourceAddresses(request), request.headers["user-agent"] ?? ""));
    if (info.isResourceRequest) write(objectRef(info, sent));
    if (status !== undefined) write(typeof status === "number" ? codeText(status) : `,"responseStatus":${status}`);
    if (whole && requestObject !== undefined) [',"requestObject":', ...requestObject].forEach(write);
    if (whole && responseObject !== undefined) [',"responseObject":', ...responseObject].forEach(write);
    write(receivedText + timeText(receivedMs) + happenedText + timeText(atMs));
    write(endText(allAnnotations(found, whole)));
  }

  #commonFields(level: Level, request: ApiRequest, info: RequestInfo, user: UserInfo): CommonFields | undefined {
    const { topic } = info;
    const { headers, remoteAddress = "" } = request;
    const agent = headers["user-agent"] ?? "";
    if (topic === undefined || headers["x-forwarded-for"] !== undefined || headers["x-real-ip"] !== undefined)
      return undefined;
    if (!isPlainPath(request.path)) return undefined;
    const known = this.#common.get(user)?.get(topic);
    if (known?.matches(level, remoteAddress, agent)) return known;
    const source = sourceText(sourceAddresses(request), agent);
    const who = `${verbText(info.verb)},"user":${this.#userText(user)}${source}`;
    const common = new CommonFields(level, { address: remoteAddress, agent }, startText(level), who, info);
    const topics = this.#common.get(user) ?? new WeakMap<object, CommonFields>();
    this.#common.set(user, topics.set(topic, common));
    return common;
  }

  #userText(user: UserInfo): string {
    const known = this.#users.get(user) ?? userText(user);
    this.#users.set(user, known);
    return known;
  }
}

class RequestEvent implements AuditEvent {
  readonly #writer: EventWriter;
  readonly head: EventHead;
  readonly stage: Stage;
  readonly atMs: number;
  readonly found: Findings;
  readonly whole: boolean;

  constructor(writer: EventWriter, head: EventHead, stage: Stage, atMs: number, found: Findings, whole: boolean) {
    this.#writer = writer;
    this.head = head;
    this.stage = stage;
    this.atMs = atMs;
    this.found = found;
    this.whole = whole;
  }

  writeTo(receiver: LineReceiver): void {
    this.#writer.write(receiver, this);
  }

  truncated(): AuditEvent | undefined {
    const { head, stage, atMs, found } = this;
    if (found.requestObject === undefined && found.responseObject === undefined) return undefined;
    return new RequestEvent(this.#writer, head, stage, atMs, found, false);
  }
}

/** Undefined where an event has more than a template has values for. */
function templateOf(
  { common, info }: EventHead,
  stage: Stage,
  found: Findings,
  name: string,
): LineTemplate | undefined {
  const { impersonated, constraint, sent, status, requestObject, responseObject, verdict } = found;
  if (common === undefined || typeof status === "string" || impersonated !== undefined || constraint) return undefined;
  if (requestObject !== undefined || responseObject !== undefined || found.annotations !== undefined) return undefined;
  if (found.bodyAnnotations !== undefined || (verdict !== undefined && verdict.decision !== "allow")) return undefined;
  if (sent !== undefined && (sent.uid || sent.resourceVersion || (sent.namespace && info.namespace === "")))
    return undefined;
  if (info.name === "" && !isPlain(name)) return undefined;
  return common.template(stage, status, verdict?.reason, name !== "");
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

/** The line as bytes, in parts. */
export function lineOf(event: AuditEvent): readonly Buffer[] {
  const parts: Buffer[] = [];
  let text = "";
  event.writeTo({
    template: ({ texts }, ...values) => {
      text += lineFrom(texts, ...values);
    },
    piece: (piece) => {
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
