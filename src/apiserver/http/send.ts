/** Answers as bytes, the same for both versions of HTTP. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type ApiRequest, type ApiResponse, isStream, type StreamResponse, type WholeResponse } from "./exchange.ts";

const GZIP_BYTES = 128 * 1024;
const CACHE_CONTROL = "no-cache, private";
const compress = promisify(gzip);

export type AnswerHeaders = Readonly<Record<string, string | number | readonly string[]>>;

/** Where an answer goes. */
export interface Outlet {
  /** Nobody is there any more to send it to. */
  readonly gone: boolean;
  head(status: number, headers: AnswerHeaders): void;
  /** Sends the head before there is anything behind it. */
  flushHead(): void;
  /** Returns how many bytes wait. */
  write(bytes: Buffer): number;
  /** Resolves when the bytes have been taken, to false if they cannot be any more. */
  written(bytes: Buffer): Promise<boolean>;
  end(bytes?: Buffer): void;
  destroy(): void;
}

/** Most answers are sent at once, and there is nothing to wait for. */
export function send(answer: ApiResponse, request: ApiRequest, outlet: Outlet): Promise<void> | undefined {
  if (outlet.gone) return undefined;
  if (isStream(answer)) return sendStream(answer, request, outlet);
  const [only, more] = answer.body;
  if (only === undefined || more !== undefined || only.length > GZIP_BYTES) return sendParts(answer, request, outlet);
  outlet.head(answer.status, headOf(answer, only.length));
  outlet.end(request.method === "HEAD" ? undefined : only);
  return undefined;
}

async function sendParts(answer: WholeResponse, request: ApiRequest, outlet: Outlet): Promise<void> {
  const total = answer.body.reduce((sum, part) => sum + part.length, 0);
  if (total > GZIP_BYTES && (request.headers["accept-encoding"] ?? "").includes("gzip")) {
    const body = await compress(Buffer.concat(answer.body), { level: 1 });
    if (outlet.gone) return;
    const packed = { "content-encoding": "gzip", vary: "Accept-Encoding" };
    const { status, headers } = answer;
    return sendWhole({ status, headers: { ...headers, ...packed }, body: [body] }, body.length, request, outlet);
  }
  return sendWhole(answer, total, request, outlet);
}

async function sendWhole(answer: WholeResponse, total: number, { method }: ApiRequest, outlet: Outlet): Promise<void> {
  outlet.head(answer.status, headOf(answer, total));
  const parts = method === "HEAD" ? [] : answer.body;
  // One by one: what is written at once, Node copies into one before it is encrypted.
  for (const part of parts.slice(0, -1)) if (!(await outlet.written(part))) return;
  outlet.end(parts.at(-1));
}

function headOf(answer: WholeResponse, total: number): AnswerHeaders {
  // In this order: a property that is added behind a copy costs more.
  return { "cache-control": CACHE_CONTROL, "content-length": total, ...asBytes(answer.headers) };
}

async function sendStream(
  { status, headers, stream }: StreamResponse,
  { signal }: ApiRequest,
  outlet: Outlet,
): Promise<void> {
  outlet.head(status, { "cache-control": CACHE_CONTROL, ...asBytes(headers) });
  outlet.flushHead();
  await stream({
    signal,
    write: (bytes) => (signal.aborted ? 0 : outlet.write(bytes)),
    drop: () => outlet.destroy(),
  });
  if (!outlet.gone) outlet.end();
}

/**
 * Warnings may quote what a caller wrote, in any letters. Node takes a character of a header for a byte: UTF-8's bytes
 * are what clients expect.
 */
function asBytes(headers: WholeResponse["headers"]): WholeResponse["headers"] {
  const { warning } = headers;
  if (warning === undefined) return headers;
  return { ...headers, warning: [warning].flat().map((line) => Buffer.from(line).toString("latin1")) };
}
