/**
 * HTTP/2: frames written and read by hand. Header fields are sent without compression and answers' header fields are not read; windows
 * are opened so wide that the server never waits for them.
 */
import type { TLSSocket } from "node:tls";
import { type Call, type Connection, checkAnswer, openSocket, type Target } from "./connection.ts";

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const FRAME_HEAD = 9;
const WINDOW = 0x7fff_ffff;
const REPLENISH = 1 << 29;
const METHODS: Record<string, Buffer> = { GET: Buffer.of(0x82), POST: Buffer.of(0x83) };

interface Stream {
  readonly call: Call;
  length: number;
  data(bytes: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

export async function openHttp2(target: Target): Promise<Http2Connection> {
  return new Http2Connection(await openSocket(target, "h2"));
}

export class Http2Connection implements Connection {
  readonly #socket: TLSSocket;
  readonly #streams = new Map<number, Stream>();
  #next = 1;
  #rest: Buffer = Buffer.alloc(0);
  #received = 0;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(4);
    settings.writeUInt32BE(WINDOW, 2);
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(
      Buffer.concat([preface, frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW - 65_535))]),
    );
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  send(call: Call): Promise<number> {
    return new Promise((resolve, reject) => {
      const stream: Stream = {
        call,
        length: 0,
        data: (bytes) => {
          if (stream.length === bytes.length) checkAnswer(bytes, call);
        },
        end: () => resolve(stream.length),
        fail: reject,
      };
      this.#open(stream);
    });
  }

  /** An answer that does not end: its bytes as they come. */
  stream(call: Call, data: (bytes: Buffer) => void, fail: (error: unknown) => void): void {
    this.#open({ call, length: 0, data, end: () => fail(new Error("the stream ended")), fail });
  }

  close(): void {
    this.#streams.clear();
    this.#socket.destroy();
  }

  #open(stream: Stream): void {
    const id = this.#next;
    this.#next += 2;
    this.#streams.set(id, stream);
    const { body } = stream.call;
    const headers = frame(HEADERS, END_HEADERS | (body === undefined ? END_STREAM : 0), id, headerBlock(stream.call));
    this.#socket.write(
      body === undefined ? headers : Buffer.concat([headers, frame(DATA, END_STREAM, id, Buffer.from(body))]),
    );
  }

  #take(bytes: Buffer): void {
    const buffer = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (buffer.length - at >= FRAME_HEAD) {
      const length = buffer.readUIntBE(at, 3);
      const end = at + FRAME_HEAD + length;
      if (buffer.length < end) break;
      this.#frame(
        buffer[at + 3] ?? 0,
        buffer[at + 4] ?? 0,
        buffer.readUInt32BE(at + 5),
        buffer.subarray(at + FRAME_HEAD, end),
      );
      at = end;
    }
    this.#rest = buffer.subarray(at);
  }

  #frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (type === SETTINGS && (flags & ACK) === 0) this.#socket.write(frame(SETTINGS, ACK, 0));
    if (type === PING && (flags & ACK) === 0) this.#socket.write(frame(PING, ACK, 0, payload));
    if (type === GOAWAY) this.#fail(new Error("the server went away"));
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (type === RST_STREAM) stream.fail(new Error(`${stream.call.path}: the server reset the stream`));
    if (type === DATA) this.#data(stream, payload);
    if (type === RST_STREAM || ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0)) {
      this.#streams.delete(id);
      stream.end();
    }
  }

  #data(stream: Stream, payload: Buffer): void {
    stream.length += payload.length;
    try {
      stream.data(payload);
    } catch (error) {
      stream.fail(error);
    }
    this.#received += payload.length;
    if (this.#received < REPLENISH) return;
    this.#socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(this.#received)));
    this.#received = 0;
  }

  #fail(error: unknown): void {
    for (const stream of this.#streams.values()) stream.fail(error);
    this.#streams.clear();
  }
}

function frame(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return payload.length === 0 ? head : Buffer.concat([head, payload]);
}

/** Names by their index in HPACK's static table, values as they are. */
function headerBlock({ method, path, contentType }: Call): Buffer {
  const parts = [
    METHODS[method] ?? literal([0x02], method),
    Buffer.of(0x87),
    literal([0x04], path),
    literal([0x01], "localhost"),
  ];
  parts.push(literal([0x0f, 0x2b], "bench"));
  if (contentType !== undefined) parts.push(literal([0x0f, 0x10], contentType));
  return Buffer.concat(parts);
}

function literal(name: readonly number[], value: string): Buffer {
  const bytes = Buffer.from(value);
  const length: number[] = bytes.length < 127 ? [bytes.length] : [127];
  if (bytes.length >= 127) {
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from([...name, ...length]), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
