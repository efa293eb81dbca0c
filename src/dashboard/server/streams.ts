/**
 * Watches, logs and flows of one page over one WebSocket: browsers open at most six HTTP/1.1 connections to a server,
 * and each watch would occupy one.
 *
 *     page ──► { open: 1, path: "/api/v1/pods?watch=true…" } (metadata: true: only that of each object)
 *     page ◄-- { id: 1, status: 200 } · { id: 1, text: "…" } · { id: 1, end: "" }
 *     page ──► { close: 1 }
 *
 * 1. Backpressure: a slow page delays the API server's stream instead of growing this process.
 * 2. The streams of a page end with it.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { isOthers } from "./proxy.ts";
import type { ApiServer } from "./upstream.ts";

const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_STREAMS = 64;
const MAX_REQUEST_BYTES = 16 * 1024;
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

export class Streams {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_REQUEST_BYTES });

  serve(api: ApiServer, message: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(message, socket, head, (page) => new PageStreams(api, page));
  }

  close(): void {
    for (const page of this.#server.clients) page.terminate();
  }
}

class PageStreams {
  readonly #api: ApiServer;
  readonly #page: WebSocket;
  readonly #open = new Map<number, AbortController>();

  constructor(api: ApiServer, page: WebSocket) {
    this.#api = api;
    this.#page = page;
    page.on("message", (data) => this.#asked(data));
    page.on("error", () => page.terminate());
    page.once("close", () => {
      for (const stream of this.#open.values()) stream.abort();
    });
  }

  #asked(data: RawData): void {
    const message = parsed(data);
    if (message === undefined) this.#page.close(1007, "not understood");
    else if ("close" in message) this.#open.get(message.close)?.abort();
    else if (this.#open.size >= MAX_STREAMS || this.#open.has(message.open) || isOthers(message.path)) {
      this.#tell({ id: message.open, end: "refused" });
    } else this.#start(message.open, message.path, message.metadata ? METADATA : "application/json");
  }

  #start(id: number, path: string, accept: string): void {
    const abort = new AbortController();
    this.#open.set(id, abort);
    const end = (why: string) => {
      if (!this.#open.delete(id)) return;
      this.#tell({ id, end: why });
    };
    const call = this.#api.request(path, { accept }, ["accept"], {
      method: "GET",
      signal: abort.signal,
    });
    call.once("error", (error) => end(abort.signal.aborted ? "" : error.message));
    call.once("response", (answer) => {
      this.#tell({ id, status: answer.statusCode ?? 502 });
      answer.setEncoding("utf8");
      answer.on("data", (text: string) => {
        this.#tell({ id, text });
        if (this.#page.bufferedAmount > MAX_WAITING_BYTES) this.#holdBack(answer);
      });
      answer.once("end", () => end(""));
      answer.once("error", (error) => end(abort.signal.aborted ? "" : error.message));
    });
    call.end();
  }

  /** Resolves when the sent data is flushed. */
  #holdBack(answer: IncomingMessage): void {
    answer.pause();
    this.#page.ping(undefined, undefined, () => answer.resume());
  }

  #tell(message: object): void {
    if (this.#page.readyState === this.#page.OPEN) this.#page.send(JSON.stringify(message));
  }
}

type Asked = { readonly open: number; readonly path: string; readonly metadata: boolean } | { readonly close: number };

function parsed(data: RawData): Asked | undefined {
  try {
    const value: unknown = JSON.parse(String(data));
    if (typeof value !== "object" || value === null) return undefined;
    if ("close" in value && Number.isInteger(value.close)) return { close: Number(value.close) };
    if (!("open" in value) || !Number.isInteger(value.open) || !("path" in value)) return undefined;
    return typeof value.path === "string" && value.path.startsWith("/")
      ? { open: Number(value.open), path: value.path, metadata: "metadata" in value && value.metadata === true }
      : undefined;
  } catch {
    return undefined; // reported to the page by the caller
  }
}
