/** Sends one ExportTraceServiceRequest to a collector, over HTTP or gRPC. */
import { type Clock, HttpClient, httpFailureText } from "#base";
import type { Endpoint } from "./endpoint.ts";

export type SendOutcome =
  | { readonly kind: "sent" }
  /** The collector may take it later. `afterMs`: when it asks to be asked again. */
  | { readonly kind: "later"; readonly why: string; readonly afterMs?: number | undefined }
  | { readonly kind: "refused"; readonly why: string };

export interface Sender {
  /** Never rejects. */
  send(request: Buffer, signal: AbortSignal): Promise<SendOutcome>;
  close(): void;
}

/** As in OpenTelemetry's exporters. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const LATER_STATUS = [429, 502, 503, 504];
const METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/** gRPC is loaded only if it is used. */
export async function openSender(endpoint: Endpoint, clock: Clock): Promise<Sender> {
  if (endpoint.protocol === "http") return httpSender(endpoint.url, clock);
  const { grpcSender } = await import("./grpc-sender.ts");
  return grpcSender(endpoint.target, METHOD, TIMEOUT_MS, clock);
}

function httpSender(url: string, clock: Clock): Sender {
  const client = new HttpClient({ clock, timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES, longer: "cut" });
  const headers = { "content-type": "application/x-protobuf" };
  return {
    send: async (body, signal) => {
      const answer = await client.send({ url, headers, body, signal });
      if (!answer.ok) return { kind: "later", why: `Post "${url}": ${httpFailureText(answer)}` };
      const { status } = answer;
      if (status >= 200 && status < 300) return { kind: "sent" };
      const why = `Post "${url}": ${status}`;
      if (!LATER_STATUS.includes(status)) return { kind: "refused", why };
      const after = Number(answer.headers["retry-after"]);
      return { kind: "later", why, afterMs: Number.isFinite(after) ? after * 1000 : undefined };
    },
    close: () => client.close(),
  };
}
