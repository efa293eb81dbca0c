/**
 * HTTP/1.1: one request at a time, answers with a content-length. A request is one piece of text, an answer mostly one
 * piece of bytes.
 */
import type { TLSSocket } from "node:tls";
import { type Call, type Connection, openSocket, type Target } from "./connection.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const SUCCESS = Buffer.from("HTTP/1.1 2");
/** As Node and k8ts write it, and other servers may. */
const LENGTHS = ["content-length: ", "Content-Length: "].map((name) => Buffer.from(`\r\n${name}`));

export async function openHttp1(target: Target, failed: (error: unknown) => void): Promise<Connection> {
  return new Http1Connection(await openSocket(target, "http/1.1"), failed);
}

class Http1Connection implements Connection {
  readonly width = 1;
  readonly #socket: TLSSocket;
  readonly #failed: (error: unknown) => void;
  #call: Call | undefined;
  #answered: (bytes: number) => void = () => {};
  /** Bytes of the body that are still to come; undefined while the head is. */
  #left: number | undefined;
  #length = 0;
  #head: Buffer = Buffer.alloc(0);

  constructor(socket: TLSSocket, failed: (error: unknown) => void) {
    this.#socket = socket;
    this.#failed = failed;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("error", failed);
    socket.on("close", () => failed(new Error("the server closed the connection")));
  }

  send(call: Call, answered: (bytes: number) => void): void {
    const { method, path, contentType, body } = call;
    const entity = body === undefined ? "" : `content-type: ${contentType}\r\ncontent-length: ${body.length}\r\n`;
    this.#call = call;
    this.#answered = answered;
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: bench\r\n${entity}\r\n${body ?? ""}`,
      "latin1",
    );
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#left === undefined) {
      const head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = head.indexOf(HEAD_END);
      if (end === -1) {
        this.#head = head;
        return;
      }
      this.#head = Buffer.alloc(0);
      this.#length = lengthOf(head, end);
      if (this.#length === -1 || !head.subarray(0, SUCCESS.length).equals(SUCCESS)) {
        this.#failed(new Error(`${this.#call?.method} ${this.#call?.path}: ${head.toString("utf8")}`));
        return;
      }
      this.#left = this.#length - (head.length - end - HEAD_END.length);
    } else {
      this.#left -= bytes.length;
    }
    if (this.#left > 0) return;
    this.#left = undefined;
    this.#answered(this.#length);
  }
}

/** -1: it does not say. */
function lengthOf(head: Buffer, end: number): number {
  for (const name of LENGTHS) {
    const at = head.indexOf(name);
    if (at === -1 || at > end) continue;
    let length = 0;
    for (let i = at + name.length; (head[i] ?? 0) >= 0x30; i++) length = length * 10 + (head[i] ?? 0) - 0x30;
    return length;
  }
  return -1;
}
