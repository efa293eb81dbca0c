/** OTLP over gRPC, without TLS, as Kubernetes' components send it. */
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import type { Clock } from "#base";
import type { Sender, SendOutcome } from "./sender.ts";

/** The codes after which OTLP lets a request be repeated. */
const LATER = [
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.OUT_OF_RANGE,
  status.UNAVAILABLE,
  status.DATA_LOSS,
];
const SETTINGS = { "grpc.use_local_subchannel_pool": 1, "grpc.enable_http_proxy": 0, "grpc.enable_retries": 0 };

export function grpcSender(target: string, method: string, timeoutMs: number, clock: Clock): Sender {
  const client = new Client(target, credentials.createInsecure(), SETTINGS);
  const send = (request: Buffer, signal: AbortSignal) =>
    new Promise<SendOutcome>((resolve) => {
      const call = client.makeUnaryRequest(
        method,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        request,
        new Metadata(),
        (error) => {
          timer.cancel();
          signal.removeEventListener("abort", cancel);
          if (error === null) resolve({ kind: "sent" });
          else {
            const why = `${target}: ${status[error.code]} ${error.details}`;
            resolve({ kind: LATER.includes(error.code) ? "later" : "refused", why });
          }
        },
      );
      const cancel = () => call.cancel();
      const timer = clock.timer(timeoutMs, cancel);
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
    });
  return { send, close: () => client.close() };
}
