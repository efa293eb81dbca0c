/**
 * What this server itself asks extension servers for: whether they are there, and what they say of themselves.
 *
 * 1. It ends within its time and its size, whatever the other side does.
 */
import { addressText, type Clock, isAbort } from "#base";
import type { Incoming } from "./backend.ts";
import type { Reached } from "./backends.ts";
import { AGGREGATOR, remoteUserHeaders } from "./remote-user.ts";

export interface Limits {
  readonly timeoutMs: number;
  /** 0: its body is not read. */
  readonly maxBytes: number;
}

export interface Question {
  readonly path: string;
  readonly accept: string;
  /** Of what is known already. */
  readonly etag?: string | undefined;
}

export interface Fetched {
  readonly status: number;
  readonly headers: Incoming["headers"];
  readonly body: Buffer;
}

/** Throws an Error that says what went wrong, as Go's client does; the signal's reason if that aborts. */
export async function fetchDocument(
  { backend, address }: Reached,
  { path, accept, etag }: Question,
  { timeoutMs, maxBytes }: Limits,
  clock: Clock,
  signal: AbortSignal,
): Promise<Fetched> {
  const url = `https://${addressText(address)}${path}`;
  const ending = new AbortController();
  let read = false;
  const late = new Error("context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
  const timer = clock.timer(timeoutMs, () => ending.abort(late));
  const stop = () => ending.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const headers = { accept, ...remoteUserHeaders(AGGREGATOR), ...(etag !== undefined && { "if-none-match": etag }) };
    const incoming = await backend.send(address, { method: "GET", path, headers }, ending.signal);
    const { status, headers: told } = incoming;
    const whole = maxBytes === 0 ? Buffer.alloc(0) : await readAll(incoming, maxBytes);
    read = maxBytes > 0;
    return { status, headers: told, body: whole };
  } catch (error) {
    if (isAbort(error, signal) || signal.aborted) throw error;
    throw new Error(`Get ${JSON.stringify(url)}: ${why(error, ending.signal)}`, { cause: error });
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", stop);
    // Whatever is left of the answer is not wanted; one that was read to its end leaves its connection to others.
    if (!read) ending.abort();
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
