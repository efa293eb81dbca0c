/**
 * Requests of this server itself to extension servers: probes, and their discovery and OpenAPI documents.
 *
 * 1. A request has a deadline, and its response a maximum size.
 */
import { addressText, type Clock, isAbort } from "#base";
import type { Incoming } from "./backend.ts";
import type { Reached } from "./backends.ts";
import { AGGREGATOR, remoteUserHeaders } from "./remote-user.ts";

export interface Limits {
  readonly timeoutMs: number;
  /** 0: the body is not read. */
  readonly maxBytes: number;
}

export interface Question {
  readonly path: string;
  readonly accept: string;
  /** The ETag of the document that is known already. */
  readonly etag?: string | undefined;
}

export interface Fetched {
  readonly status: number;
  readonly headers: Incoming["headers"];
  readonly body: Buffer;
}

/** Throws an Error in the words of Go's client; the signal's reason if that aborts. */
export async function fetchDocument(
  { backend, address }: Reached,
  { path, accept, etag }: Question,
  { timeoutMs, maxBytes }: Limits,
  clock: Clock,
  signal: AbortSignal,
): Promise<Fetched> {
  const url = `https://${addressText(address)}${path}`;
  const ending = new AbortController();
  let isRead = false;
  const late = new Error("context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
  const timer = clock.timer(timeoutMs, () => ending.abort(late));
  const stop = () => ending.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const headers = { accept, ...remoteUserHeaders(AGGREGATOR), ...(etag !== undefined && { "if-none-match": etag }) };
    const incoming = await backend.send(address, { method: "GET", path, headers }, ending.signal);
    const body = maxBytes === 0 ? Buffer.alloc(0) : await readAll(incoming, maxBytes);
    isRead = maxBytes > 0;
    return { status: incoming.status, headers: incoming.headers, body };
  } catch (error) {
    if (isAbort(error, signal) || signal.aborted) throw error;
    throw new Error(`Get ${JSON.stringify(url)}: ${why(error, ending.signal)}`, { cause: error });
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", stop);
    // A response that was not read to its end is cut; one that was leaves its connection to others.
    if (!isRead) ending.abort();
  }
}

function why(error: unknown, ending: AbortSignal): string {
  if (ending.aborted && ending.reason instanceof Error) return ending.reason.message;
  return error instanceof Error ? error.message : String(error);
}

async function readAll({ body, isBroken }: Incoming, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error("http: response body too large");
    chunks.push(chunk);
  }
  if (isBroken()) throw new Error("unexpected EOF");
  return Buffer.concat(chunks);
}
