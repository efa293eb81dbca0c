/**
 * Requests that the first thread answers in the place of another: as they came, through its whole pipeline.
 *
 *     client ──► thread ── request, port ──► first thread ──► pipeline
 *                       ◄── status, parts, the port's end ──┘
 */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { type ApiRequest, type ApiResponse, type Handle, isStream } from "#apiserver";
import type { ForwardedAnswer, ForwardedRequest } from "./protocol.ts";

/** Reports of works are the largest bodies that are forwarded. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

export type SendRequest = (request: ForwardedRequest, port: MessagePort) => void;

export async function forward(request: ApiRequest, send: SendRequest): Promise<ApiResponse> {
  const { method, path, target = path, headers, remoteAddress, certificate } = request;
  const body = Uint8Array.from(await request.body(MAX_BODY_BYTES));
  const { port1: port, port2 } = new MessageChannel();
  const parts: Buffer[] = [];
  let wake = () => {};
  let ended = false;
  const head = Promise.withResolvers<Extract<ForwardedAnswer, { readonly status: number }>>();
  port.on("message", (answer: ForwardedAnswer) => {
    if ("status" in answer) head.resolve(answer);
    else if ("failed" in answer) head.reject(new Error(answer.failed));
    else parts.push(Buffer.from(answer.part.buffer, answer.part.byteOffset, answer.part.byteLength));
    wake();
  });
  port.on("close", () => {
    ended = true;
    head.reject(new Error("The first thread has gone."));
    wake();
  });
  send({ method, target, headers, remoteAddress, certificate, body }, port2);
  request.signal.addEventListener("abort", () => port.close(), { once: true });
  const { status, headers: answered } = await head.promise;
  return {
    status,
    headers: answered,
    stream: async (sink) => {
      while (!sink.signal.aborted) {
        for (const part of parts.splice(0)) if (sink.write(part) > MAX_QUEUED_BYTES) sink.drop();
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
          sink.signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      port.close();
    },
  };
}

/** The other side of `forward`. */
export async function answerForwarded(
  { method, target, headers, remoteAddress, certificate, body }: ForwardedRequest,
  port: MessagePort,
  handle: Handle,
): Promise<void> {
  const gone = new AbortController();
  port.on("close", () => gone.abort());
  const send = (answer: ForwardedAnswer) => port.postMessage(answer);
  const [path = "", ...query] = target.split("?");
  try {
    const answer = await handle({
      method,
      target,
      path,
      query: new URLSearchParams(query.join("?")),
      headers,
      remoteAddress,
      body: async () => Buffer.from(body),
      signal: gone.signal,
      ...(certificate !== undefined && { certificate }),
    });
    send({ status: answer.status, headers: answer.headers });
    const write = (bytes: Buffer) => {
      send({ part: Uint8Array.from(bytes) });
      return 0;
    };
    if (isStream(answer)) await answer.stream({ write, drop: () => gone.abort(), signal: gone.signal });
    else for (const bytes of answer.body) write(bytes);
  } catch (error) {
    if (!gone.signal.aborted) send({ failed: (error as Error).message });
  } finally {
    port.close();
  }
}
