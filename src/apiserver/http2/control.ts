/**
 * What the two sides say about the connection itself: SETTINGS, PING, WINDOW_UPDATE, and what is only looked at.
 *
 * 1. Whatever has to be acknowledged costs patience.
 */
import type { Answers } from "./answers.ts";
import { broken, CODE, FLAG, FRAME, MAX_MAX_FRAME, MIN_MAX_FRAME, SETTING, tooMuch, wrongSize } from "./codes.ts";
import { uint31 } from "./frame-reader.ts";
import { STREAM_WINDOW } from "./inflow.ts";
import { MAX_STREAMS, type OpenStreams } from "./open-streams.ts";
import type { Patience } from "./patience.ts";
import { checkDependency, settingsPayload } from "./payloads.ts";
import { MAX_FIELD_BYTES } from "./requests.ts";
import type { Sender } from "./sender.ts";

/** In one frame: each may concern all streams. */
const MAX_SETTINGS = 32;
const NOTHING = Buffer.alloc(0);

export interface ControlOptions {
  readonly sender: Sender;
  readonly streams: OpenStreams;
  readonly answers: Answers;
  readonly patience: Patience;
}

export class Control {
  readonly #sender: Sender;
  readonly #streams: OpenStreams;
  readonly #answers: Answers;
  readonly #patience: Patience;
  #configured = false;

  constructor({ sender, streams, answers, patience }: ControlOptions) {
    this.#sender = sender;
    this.#streams = streams;
    this.#answers = answers;
    this.#patience = patience;
  }

  /** The other side's settings have come: before that, nothing else may. */
  get isConfigured(): boolean {
    return this.#configured;
  }

  settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("settings of one stream");
    this.#configured = true;
    if ((flags & FLAG.ack) !== 0) {
      if (start !== end) throw wrongSize("SETTINGS");
      return;
    }
    if ((end - start) % 6 !== 0) throw wrongSize("SETTINGS");
    if (end - start > MAX_SETTINGS * 6) throw tooMuch("settings");
    for (let at = start; at < end; at += 6) this.#setting(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2));
    this.#acknowledge(FRAME.settings, NOTHING);
  }

  ping(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("a sign of life of one stream");
    if (end - start !== 8) throw wrongSize("PING");
    if ((flags & FLAG.ack) === 0) this.#acknowledge(FRAME.ping, Buffer.from(bytes.subarray(start, end)));
  }

  windowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize("WINDOW_UPDATE");
    const more = uint31(bytes, start);
    if (id === 0) {
      if (more === 0) throw broken("room for nothing");
      this.#answers.widenAll(more);
      return;
    }
    if (this.#streams.isIdle(id)) throw broken("room for no request");
    const stream = this.#streams.get(id)?.stream;
    if (stream === undefined) return;
    if (more === 0) this.#streams.punish(stream, CODE.protocolError);
    else if (!this.#answers.widen(stream, more)) this.#streams.punish(stream, CODE.flowControlError);
  }

  /** What is only looked at: it has to be well-formed all the same. Frames that nobody knows may be anything. */
  ignored(type: number, id: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (type === FRAME.goAway && id !== 0) throw broken("a farewell of one stream");
    if (type === FRAME.goAway && length < 8) throw wrongSize("GOAWAY");
    if (type === FRAME.priority && id === 0) throw broken("a priority of no stream");
    if (type === FRAME.priority && length !== 5) throw wrongSize("PRIORITY");
    if (type === FRAME.priority) checkDependency(id, bytes, start);
    if (type === FRAME.pushPromise) throw broken("a client cannot promise");
  }

  #setting(setting: number, value: number): void {
    switch (setting) {
      case SETTING.headerTableSize:
        this.#answers.remember(value);
        return;
      case SETTING.enablePush:
        if (value > 1) throw broken("a switch that is neither on nor off");
        return;
      case SETTING.initialWindowSize:
        this.#answers.setFirstWindow(
          value,
          this.#streams.values().map(({ stream }) => stream),
        );
        return;
      case SETTING.maxFrameSize:
        if (value < MIN_MAX_FRAME || value > MAX_MAX_FRAME) throw broken("frames of no such size");
        // Larger ones would keep other streams waiting.
        return;
    }
  }

  #acknowledge(type: number, payload: Buffer): void {
    if (!this.#patience.bears()) throw tooMuch("to acknowledge");
    this.#sender.frame(type, FLAG.ack, 0, payload);
  }
}

export const OUR_SETTINGS = settingsPayload([
  [SETTING.maxConcurrentStreams, MAX_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW],
  [SETTING.maxHeaderListSize, MAX_FIELD_BYTES],
]);
