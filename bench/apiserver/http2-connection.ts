/**
 * HTTP/2: frames written and read by hand. Header fields are sent without compression and answers' header fields are
 * not read: a failed Status tells itself by its body. Windows are opened so wide that the server never waits for them.
 */
import type { TLSSocket } from "node:tls";
import { type Call, type Connection, openSocket, type Target } from "./connection.ts";
import {
  ACK,
  DATA,
  END_HEADERS,
  END_STREAM,
  FRAME_HEAD,
  frame,
  GOAWAY,
  HEADERS,
  headerBlock,
  PING,
  RST_STREAM,
  SETTINGS,
  uint32,
  WINDOW_UPDATE,
  writeFrameHead,
} from "./http2-frames.ts";

const WINDOW = 0x7fff_ffff;
const REPLENISH = 1 << 29;
const STATUS = Buffer.from('{"kind":"Status"');
const FAILURE = '"status":"Failure"';

interface Stream {
  readonly call: Call;
  length: number;
  data?(bytes: Buffer): void;
  end(bytes: number): void;
}

export class Http2Connection implements Connection {
  readonly width: number;
  readonly #socket: TLSSocket;
  readonly #failed: (error: unknown) => void;
  readonly #streams = new Map<number, Stream>();
  /** Of calls without a number in their path: always the same. */
  readonly #blocks = new Map<string, Buffer>();
  #next = 1;
  #rest: Buffer = Buffer.alloc(0);
  #received = 0;

  /** `width`: how many streams it has open at a time. */
  static async open(target: Target, width: number, failed: (error: unknown) => void): Promise<Http2Connection> {
    return new Http2Connection(await openSocket(target, "h2"), width, failed);
  }

  private constructor(socket: TLSSocket, width: number, failed: (error: unknown) => void) {
    this.#socket = socket;
    this.width = width;
    this.#failed = failed;
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(4);
    settings.writeUInt32BE(WINDOW, 2);
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(
      Buffer.concat([preface, frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW - 65_535))]),
    );
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("error", failed);
    socket.on("close", () => failed(new Error("the server closed the connection")));
  }

  send(call: Call, answered: (bytes: number) => void): void {
    this.#open({ call, length: 0, end: answered });
  }

  /** An answer that does not end: its bytes as they come. */
  stream(call: Call, data: (bytes: Buffer) => void): void {
    this.#open({ call, length: 0, data, end: () => this.#failed(new Error("the stream ended")) });
  }

  close(): void {
    this.#streams.clear();
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #open(stream: Stream): void {
    const { call } = stream;
    const id = this.#next;
    this.#next += 2;
    this.#streams.set(id, stream);
    const block = this.#blockOf(call);
    const body = call.body ?? "";
    const bytes = Buffer.allocUnsafe(2 * FRAME_HEAD + block.length + body.length);
    const end = body === "" ? END_STREAM : 0;
    let at = writeFrameHead(bytes, 0, HEADERS, END_HEADERS | end, id, block.length);
    at += block.copy(bytes, at);
    if (body !== "") {
      at = writeFrameHead(bytes, at, DATA, END_STREAM, id, body.length);
      at += bytes.write(body, at, "latin1");
    }
    this.#socket.write(bytes.subarray(0, at));
  }

  #blockOf(call: Call): Buffer {
    const key = `${call.method} ${call.path}`;
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = headerBlock(call);
      if (this.#blocks.size < 8) this.#blocks.set(key, block);
    }
    return block;
  }

  /** What several answers lead to is written at once. */
  #take(bytes: Buffer): void {
    const buffer = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    this.#socket.cork();
    while (buffer.length - at >= FRAME_HEAD) {
      const start = at + FRAME_HEAD;
      const end = start + buffer.readUIntBE(at, 3);
      if (buffer.length < end) break;
      this.#frame(buffer[at + 3] ?? 0, buffer[at + 4] ?? 0, buffer.readUInt32BE(at + 5), buffer, start, end);
      at = end;
    }
    this.#socket.uncork();
    this.#rest = buffer.subarray(at);
  }

  #frame(type: number, flags: number, id: number, buffer: Buffer, start: number, end: number): void {
    if (type === SETTINGS && (flags & ACK) === 0) this.#socket.write(frame(SETTINGS, ACK, 0));
    if (type === PING && (flags & ACK) === 0) this.#socket.write(frame(PING, ACK, 0, buffer.subarray(start, end)));
    if (type === GOAWAY) this.#failed(new Error("the server went away"));
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (type === RST_STREAM) this.#failed(new Error(`${stream.call.path}: the server reset the stream`));
    if (type === DATA) this.#data(stream, buffer, start, end);
    if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) {
      this.#streams.delete(id);
      stream.end(stream.length);
    }
  }

  #data(stream: Stream, buffer: Buffer, start: number, end: number): void {
    if (stream.length === 0 && isFailure(buffer, start, end)) this.#refused(stream.call, buffer.subarray(start, end));
    stream.length += end - start;
    stream.data?.(buffer.subarray(start, end));
    this.#received += end - start;
    if (this.#received < REPLENISH) return;
    this.#socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(this.#received)));
    this.#received = 0;
  }

  #refused({ method, path }: Call, answer: Buffer): void {
    this.#failed(new Error(`${method} ${path}: ${answer.toString("utf8")}`));
  }
}

function isFailure(buffer: Buffer, start: number, end: number): boolean {
  if (end - start < STATUS.length || buffer.compare(STATUS, 0, STATUS.length, start, start + STATUS.length) !== 0)
    return false;
  return buffer.subarray(start, end).includes(FAILURE);
}
