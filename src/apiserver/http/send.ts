/** Sends answers, the same for both versions of HTTP. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type ApiRequest, type ApiResponse, isStream, type StreamResponse, type WholeResponse } from "./exchange.ts";

const GZIP_BYTES = 128 * 1024;
const CACHE_CONTROL = "no-cache, private";
const compress = promisify(gzip);

export type AnswerHeaders = Readonly<Record<string, string | number | readonly string[]>>;

/** Where an answer goes. */
export interface Outlet {
  /** The client has disconnected. */
  readonly gone: boolean;
  head(status: number, headers: AnswerHeaders): void;
  /** Sends the head before the body begins. */
  flushHead(): void;
  /** Returns how many bytes are queued. */
  write(bytes: Buffer): number;
  /** The same for bytes in parts. Absent: they have to be one. */
  writeParts?(parts: readonly Buffer[]): number;
  /** Resolves when the bytes have been sent; to false if they cannot be sent any more. */
  written(bytes: Buffer): Promise<boolean>;
  end(bytes?: Buffer): void;
  destroy(): void;
}

/** Undefined: the answer has been sent. */
export function send(answer: ApiResponse, request: ApiRequest, outlet: Outlet): Promise<void> | undefined {
  if (outlet.gone) return undefined;
  if (isStream(answer)) return sendStream(answer, request, outlet);
  const { packed } = answer;
  if (packed !== undefined && packed.plainBytes > GZIP_BYTES && acceptsGzip(request))
    return sendPacked(answer, packed.gzip(), request, outlet);
  const [only, more] = answer.body;
  if (only === undefined || more !== undefined || only.length > GZIP_BYTES) return sendParts(answer, request, outlet);
  outlet.head(answer.status, headOf(answer, only.length));
  outlet.end(request.method === "HEAD" ? undefined : only);
  return undefined;
}

async function sendParts(answer: WholeResponse, request: ApiRequest, outlet: Outlet): Promise<void> {
  const total = answer.body.reduce((sum, part) => sum + part.length, 0);
  if (total > GZIP_BYTES && acceptsGzip(request))
    return sendPacked(answer, compress(Buffer.concat(answer.body), { level: 1 }), request, outlet);
  return sendWhole(answer, total, request, outlet);
}

function acceptsGzip({ headers }: ApiRequest): boolean {
  return (headers["accept-encoding"] ?? "").includes("gzip");
}

async function sendPacked(
  { status, headers }: WholeResponse,
  gzip: Promise<Buffer>,
  request: ApiRequest,
  outlet: Outlet,
): Promise<void> {
  const body = await gzip;
  if (outlet.gone) return;
  const packed = { "content-encoding": "gzip", vary: "Accept-Encoding" };
  return sendWhole({ status, headers: { ...headers, ...packed }, body: [body] }, body.length, request, outlet);
}

async function sendWhole(answer: WholeResponse, total: number, { method }: ApiRequest, outlet: Outlet): Promise<void> {
  outlet.head(answer.status, headOf(answer, total));
  const parts = method === "HEAD" ? [] : answer.body;
  // One by one: Node would copy parts that are written together into one before it encrypts them.
  for (const part of parts.slice(0, -1)) if (!(await outlet.written(part))) return;
  outlet.end(parts.at(-1));
}

function headOf(answer: WholeResponse, total: number): AnswerHeaders {
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
    writeParts: outlet.writeParts && ((parts) => (signal.aborted ? 0 : (outlet.writeParts?.(parts) ?? 0))),
    drop: () => outlet.destroy(),
  });
  if (!outlet.gone) outlet.end();
}

/** Warnings may quote text of the client in any script. Node encodes a header as latin1; clients expect UTF-8. */
function asBytes(headers: WholeResponse["headers"]): WholeResponse["headers"] {
  const { warning } = headers;
  if (warning === undefined) return headers;
  return { ...headers, warning: [warning].flat().map((line) => Buffer.from(line).toString("latin1")) };
}
