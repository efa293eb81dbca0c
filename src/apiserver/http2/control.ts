/**
 * Frames about the connection itself: SETTINGS, PING, WINDOW_UPDATE; and frames that are checked and ignored.
 *
 * 1. Frames that have to be acknowledged count as possible abuse.
 */

import type { AbuseBudget } from "./abuse-budget.ts";
import type { Answers } from "./answers.ts";
import { broken, CODE, FLAG, FRAME, MAX_MAX_FRAME, MIN_MAX_FRAME, SETTING, tooMuch, wrongSize } from "./codes.ts";
import { uint31 } from "./frame-reader.ts";
import { STREAM_WINDOW } from "./inflow.ts";
import type { OpenStreams } from "./open-streams.ts";
import { checkDependency, settingsPayload } from "./payloads.ts";
import { MAX_FIELD_BYTES } from "./requests.ts";
import type { Sender } from "./sender.ts";

/** In one frame: each setting may concern all streams. */
const MAX_SETTINGS = 32;
const NOTHING = Buffer.alloc(0);

export interface ControlOptions {
  readonly sender: Sender;
  readonly streams: OpenStreams;
  readonly answers: Answers;
  readonly abuse: AbuseBudget;
}

export class Control {
  readonly #sender: Sender;
  readonly #streams: OpenStreams;
  readonly #answers: Answers;
  readonly #abuse: AbuseBudget;
  #configured = false;

  constructor({ sender, streams, answers, abuse }: ControlOptions) {
    this.#sender = sender;
    this.#streams = streams;
    this.#answers = answers;
    this.#abuse = abuse;
  }

  /** The client has sent SETTINGS: its first frame. */
  get isConfigured(): boolean {
    return this.#configured;
  }

  settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("SETTINGS on a stream");
    this.#configured = true;
    if ((flags & FLAG.ack) !== 0) {
      if (start !== end) throw wrongSize("SETTINGS");
      return;
    }
    if ((end - start) % 6 !== 0) throw wrongSize("SETTINGS");
    if (end - start > MAX_SETTINGS * 6) throw tooMuch("too many settings in a frame");
    for (let at = start; at < end; at += 6) this.#setting(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2));
    this.#acknowledge(FRAME.settings, NOTHING);
  }

  ping(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("PING on a stream");
    if (end - start !== 8) throw wrongSize("PING");
    if ((flags & FLAG.ack) === 0) this.#acknowledge(FRAME.ping, ownCopy(bytes, start, end));
  }

  windowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize("WINDOW_UPDATE");
    const more = uint31(bytes, start);
    if (id === 0) {
      if (more === 0) throw broken("WINDOW_UPDATE by 0");
      this.#answers.widenAll(more);
      return;
    }
    if (this.#streams.isIdle(id)) throw broken("WINDOW_UPDATE on an idle stream");
    const stream = this.#streams.get(id)?.stream;
    if (stream === undefined) return;
    if (more === 0) this.#streams.resetForError(stream, CODE.protocolError);
    else if (!this.#answers.widen(stream, more)) this.#streams.resetForError(stream, CODE.flowControlError);
  }

  /** Frames that are ignored, but have to be well-formed. Frames of unknown types may be anything. */
  ignored(type: number, id: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (type === FRAME.goAway && id !== 0) throw broken("GOAWAY on a stream");
    if (type === FRAME.goAway && length < 8) throw wrongSize("GOAWAY");
    if (type === FRAME.priority && id === 0) throw broken("PRIORITY on stream 0");
    if (type === FRAME.priority && length !== 5) throw wrongSize("PRIORITY");
    if (type === FRAME.priority) checkDependency(id, bytes, start);
    if (type === FRAME.pushPromise) throw broken("PUSH_PROMISE of a client");
  }

  #setting(setting: number, value: number): void {
    switch (setting) {
      case SETTING.headerTableSize:
        this.#answers.setTableSize(value);
        return;
      case SETTING.enablePush:
        if (value > 1) throw broken("SETTINGS_ENABLE_PUSH is neither 0 nor 1");
        return;
      case SETTING.initialWindowSize:
        this.#answers.setFirstWindow(
          value,
          this.#streams.values().map(({ stream }) => stream),
        );
        return;
      case SETTING.maxFrameSize:
        if (value < MIN_MAX_FRAME || value > MAX_MAX_FRAME) throw broken("SETTINGS_MAX_FRAME_SIZE out of range");
        // Not used: larger frames would keep other streams waiting.
        return;
    }
  }

  #acknowledge(type: number, payload: Buffer): void {
    if (!this.#abuse.take()) throw tooMuch("too many frames to acknowledge");
    this.#sender.frame(type, FLAG.ack, 0, payload);
  }
}

/** Not a slice of the pool of small Buffers: thousands may wait, and each would keep 64 KiB alive. */
function ownCopy(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

export function ourSettings(maxStreams: number): Buffer {
  return settingsPayload([
    [SETTING.maxConcurrentStreams, maxStreams],
    [SETTING.initialWindowSize, STREAM_WINDOW],
    [SETTING.maxHeaderListSize, MAX_FIELD_BYTES],
  ]);
}
