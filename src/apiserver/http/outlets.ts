/** Where answers go, for each version of HTTP. Classes, because one is made for each request. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2Stream } from "../http2/index.ts";
import type { AnswerHeaders, Outlet } from "./send.ts";

export class Http1Outlet implements Outlet {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get gone(): boolean {
    return this.#response.destroyed;
  }

  head(status: number, headers: AnswerHeaders): void {
    this.#response.writeHead(status, headers as OutgoingHttpHeaders);
  }

  flushHead(): void {
    this.#response.flushHeaders();
  }

  write(bytes: Buffer): number {
    this.#response.write(bytes);
    return this.#response.writableLength;
  }

  written(bytes: Buffer): Promise<boolean> {
    return new Promise((resolve) => this.#response.write(bytes, (error) => resolve(!error)));
  }

  end(bytes?: Buffer): void {
    this.#response.end(bytes);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

export class Http2Outlet implements Outlet {
  readonly #stream: Http2Stream;

  constructor(stream: Http2Stream) {
    this.#stream = stream;
  }

  get gone(): boolean {
    return this.#stream.destroyed;
  }

  /** `connection: close` is a header of HTTP/1.1 only: here the connection retires (RFC 9113, 8.2.2). */
  head(status: number, headers: AnswerHeaders): void {
    if (headers.connection === undefined) {
      this.#stream.respond(status, headers);
      return;
    }
    const { connection, ...fields } = headers;
    if (connection === "close") this.#stream.retireConnection();
    this.#stream.respond(status, fields);
  }

  flushHead(): void {}

  write(bytes: Buffer): number {
    this.#stream.write(bytes);
    return this.#stream.waiting;
  }

  writeParts(parts: readonly Buffer[]): number {
    for (const part of parts) this.#stream.write(part);
    return this.#stream.waiting;
  }

  written(bytes: Buffer): Promise<boolean> {
    return new Promise((resolve) => this.#stream.write(bytes, resolve));
  }

  end(bytes?: Buffer): void {
    this.#stream.end(bytes);
  }

  destroy(): void {
    this.#stream.destroy();
  }
}
