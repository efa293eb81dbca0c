/**
 * Several streams in one WebSocket: the first byte of each message is the channel number.
 *
 *     v5.channel.k8s.io          as v4; byte 255 and a channel number close that channel
 *     v4.channel.k8s.io          the outcome is a Status on the error channel
 *     channel.k8s.io             the outcome is a sentence on the error channel, or nothing
 *     base64.channel.k8s.io …    messages are text: the channel as a digit, then base64
 */
import type { WebSocket } from "ws";

export interface ChannelProtocol {
  readonly name: string;
  readonly isBase64: boolean;
  /** Since version 4 the outcome is a Status. */
  readonly hasStatus: boolean;
  readonly hasClose: boolean;
}

export const CHANNEL_PROTOCOLS: readonly ChannelProtocol[] = [
  { name: "v5.channel.k8s.io", isBase64: false, hasStatus: true, hasClose: true },
  { name: "v4.channel.k8s.io", isBase64: false, hasStatus: true, hasClose: false },
  { name: "v4.base64.channel.k8s.io", isBase64: true, hasStatus: true, hasClose: false },
  { name: "channel.k8s.io", isBase64: false, hasStatus: false, hasClose: false },
  { name: "base64.channel.k8s.io", isBase64: true, hasStatus: false, hasClose: false },
];
/** The default is the oldest one. */
export const UNNAMED_PROTOCOL: ChannelProtocol = { name: "", isBase64: false, hasStatus: false, hasClose: false };

const CLOSE_CHANNEL = 255;
const DIGIT_ZERO = 0x30;

export interface Message {
  readonly channel: number;
  /** Undefined if the channel is closed. */
  readonly bytes: Buffer | undefined;
}

export function decodeMessage({ isBase64, hasClose }: ChannelProtocol, message: Buffer): Message | undefined {
  const [first] = message;
  if (first === undefined) return undefined;
  const rest = message.subarray(1);
  if (isBase64) return { channel: first - DIGIT_ZERO, bytes: Buffer.from(rest.toString("latin1"), "base64") };
  if (hasClose && first === CLOSE_CHANNEL) return { channel: rest[0] ?? CLOSE_CHANNEL, bytes: undefined };
  return { channel: first, bytes: rest };
}

export function encodeMessage({ isBase64 }: ChannelProtocol, channel: number, bytes: Buffer): Buffer | string {
  if (isBase64) return `${channel}${bytes.toString("base64")}`;
  return Buffer.concat([Buffer.from([channel]), bytes]);
}

/** The channels of a WebSocket, with backpressure in both directions. */
export class WebSocketChannels {
  readonly protocol: ChannelProtocol;
  readonly #socket: WebSocket;

  /** `protocol`: the negotiated subprotocol. */
  constructor(socket: WebSocket, protocol: string | undefined) {
    this.#socket = socket;
    this.protocol = CHANNEL_PROTOCOLS.find(({ name }) => name === protocol) ?? UNNAMED_PROTOCOL;
  }

  onMessage(take: (message: Message) => Promise<void> | void): void {
    this.#socket.on("message", (raw: Buffer | ArrayBuffer | Buffer[]) => {
      const bytes = Buffer.isBuffer(raw) ? raw : Array.isArray(raw) ? Buffer.concat(raw) : Buffer.from(raw);
      const message = decodeMessage(this.protocol, bytes);
      const taken = message && take(message);
      if (taken === undefined) return;
      this.#socket.pause();
      void taken.finally(() => this.#socket.resume());
    });
  }

  /** `sent` is called when the bytes are written to the socket. */
  send(channel: number, bytes: Buffer, sent?: () => void): void {
    this.#socket.send(encodeMessage(this.protocol, channel, bytes), () => sent?.());
  }

  get waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }
}
