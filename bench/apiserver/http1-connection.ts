/** HTTP/1.1: one request at a time, answers with a content-length. */
import type { TLSSocket } from "node:tls";
import { type Call, type Connection, checkAnswer, openSocket, type Target } from "./connection.ts";

const HEAD_END = Buffer.from("\r\n\r\n");

interface Waiting extends PromiseWithResolvers<number> {
  readonly call: Call;
}

export async function openHttp1(target: Target): Promise<Connection> {
  return new Http1Connection(await openSocket(target, "http/1.1"));
}

class Http1Connection implements Connection {
  readonly #socket: TLSSocket;
  #waiting: Waiting | undefined;
  /** Bytes of the body that are still to come; undefined while the head is. */
  #left: number | undefined;
  #length = 0;
  #head: Buffer = Buffer.alloc(0);

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("the server closed the connection")));
  }

  send(call: Call): Promise<number> {
    const { method, path, contentType, body } = call;
    const entity =
      body === undefined ? "" : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    this.#waiting = { ...Promise.withResolvers<number>(), call };
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: bench\r\n${entity}\r\n${body ?? ""}`,
    );
    return this.#waiting.promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    let body = bytes;
    if (this.#left === undefined) {
      this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = this.#head.indexOf(HEAD_END);
      if (end === -1) return;
      const length = /content-length: (\d+)/i.exec(this.#head.toString("latin1", 0, end))?.[1];
      if (length === undefined) {
        waiting.reject(new Error("an answer without a content-length"));
        return;
      }
      body = this.#head.subarray(end + HEAD_END.length);
      this.#head = Buffer.alloc(0);
      this.#length = Number(length);
      this.#left = this.#length;
      try {
        checkAnswer(body, waiting.call);
      } catch (error) {
        waiting.reject(error);
      }
    }
    this.#left -= body.length;
    if (this.#left > 0) return;
    this.#left = undefined;
    waiting.resolve(this.#length);
  }
}
