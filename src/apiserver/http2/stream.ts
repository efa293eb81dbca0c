/**
 * One request of a connection, and its answer.
 *
 *     HEADERS, DATA … ──► fields, body          respond, write, end ──► HEADERS, DATA …
 *
 * 1. Written bytes wait here until the client's window has room: `waiting` is their number.
 * 2. A stream closes once: when the answer has been sent, or one side has reset it.
 * 3. A plain object: the native objects of node:http2 live until the whole heap is collected, with everything that they
 *    refer to (ADR 0015).
 */
import { CODE } from "./codes.ts";
import type { Fields } from "./fields.ts";
import type { RequestBody } from "./request-body.ts";

export type AnswerFields = Readonly<Record<string, string | number | readonly string[]>>;

/** The connection, as a stream sees it. */
export interface StreamOwner {
  head(stream: Http2Stream, status: number, fields: AnswerFields): void;
  /** The stream has something to send. */
  ready(stream: Http2Stream): void;
  reset(stream: Http2Stream, code: number): void;
  /** Further requests shall be sent on another connection. */
  retire(): void;
}

export class Http2Stream {
  readonly id: number;
  readonly fields: Fields;
  /** Names and values in turn, as received. */
  readonly list: readonly string[];
  /** Absent if the request has none. */
  readonly body: RequestBody | undefined;
  readonly #owner: StreamOwner;
  /** How much DATA the client accepts. */
  window: number;
  /** For the sender: the stream is in its list. */
  isReady = false;
  /** For StalledAnswers: bytes of the answer that were sent, and those at the last check. */
  sent = 0;
  sentBefore: number | undefined;
  #queue: Buffer[] = [];
  #at = 0;
  #waiting = 0;
  #ended = false;
  #closed = false;
  #taken: ((fine: boolean) => void)[] | undefined;
  #listeners: (() => void)[] | undefined;

  constructor(
    id: number,
    fields: Fields,
    list: readonly string[],
    body: RequestBody | undefined,
    owner: StreamOwner,
    window: number,
  ) {
    this.id = id;
    this.fields = fields;
    this.list = list;
    this.body = body;
    this.#owner = owner;
    this.window = window;
  }

  /** The stream is closed. */
  get destroyed(): boolean {
    return this.#closed;
  }

  /** Bytes that were written and not yet sent. */
  get waiting(): number {
    return this.#waiting;
  }

  respond(status: number, fields: AnswerFields): void {
    if (!this.#closed) this.#owner.head(this, status, fields);
  }

  /** Asks the client to send further requests on another connection. */
  retireConnection(): void {
    this.#owner.retire();
  }

  /** `taken` is called when everything written so far has been sent, or cannot be. */
  write(bytes: Buffer, taken?: (fine: boolean) => void): void {
    if (this.#closed || this.#ended) {
      taken?.(false);
      return;
    }
    this.#add(bytes);
    if (taken !== undefined) {
      this.#taken ??= [];
      this.#taken.push(taken);
    }
    this.#owner.ready(this);
  }

  end(bytes?: Buffer): void {
    if (this.#closed || this.#ended) return;
    if (bytes !== undefined) this.#add(bytes);
    this.#ended = true;
    this.#owner.ready(this);
  }

  destroy(): void {
    if (!this.#closed) this.#owner.reset(this, CODE.cancel);
  }

  once(_event: "close", listener: () => void): void {
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  off(_event: "close", listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners?.splice(at, 1);
  }

  /** For the sender: the next part, of at most so many bytes. */
  take(most: number): Buffer {
    const first = this.#queue[0];
    if (first === undefined) return NOTHING;
    const from = this.#at;
    const to = Math.min(first.length, from + most);
    this.#waiting -= to - from;
    this.sent += to - from;
    if (to === first.length) {
      this.#queue.shift();
      this.#at = 0;
    } else this.#at = to;
    if (this.#waiting === 0) this.#notify(true);
    return from === 0 && to === first.length ? first : first.subarray(from, to);
  }

  /** For the connection: the answer is complete, whether it has been sent or not. */
  get isEnded(): boolean {
    return this.#ended;
  }

  /** For the sender: the last part has been taken. */
  get isDone(): boolean {
    return this.#ended && this.#queue.length === 0;
  }

  /** For the connection, once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue = [];
    this.#waiting = 0;
    this.#notify(false);
    if (this.body !== undefined && !this.body.readableEnded) this.body.destroy();
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#waiting += bytes.length;
  }

  #notify(fine: boolean): void {
    const taken = this.#taken;
    this.#taken = undefined;
    for (const each of taken ?? []) each(fine);
  }
}

const NOTHING = Buffer.alloc(0);
