/**
 * A KMS plugin, called over gRPC at a Unix socket: Status, Encrypt, Decrypt of v2.KeyManagementService.
 *
 * 1. Every call ends after the provider's timeout. Callers decide whether to try again.
 */
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { Clock } from "#base";
import {
  type Codec,
  decryptRequest,
  decryptResponse,
  encryptRequest,
  encryptResponse,
  statusRequest,
  statusResponse,
} from "./wire.ts";

type Of<C> = C extends Codec<infer T> ? T : never;

export interface KmsPlugin {
  status(): Promise<Of<typeof statusResponse>>;
  encrypt(request: Of<typeof encryptRequest>): Promise<Of<typeof encryptResponse>>;
  decrypt(request: Of<typeof decryptRequest>): Promise<Of<typeof decryptResponse>>;
  close(): void;
}

export interface KmsPluginOptions {
  /** `unix:///path` */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

export const SERVICE = "/v2.KeyManagementService";
const SETTINGS = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2_000,
  // The path of a Unix socket is not a valid host name.
  "grpc.default_authority": "localhost",
};

export function kmsPlugin({ endpoint, timeoutMs, clock }: KmsPluginOptions): KmsPlugin {
  const client = new Client(endpoint, credentials.createInsecure(), SETTINGS);
  const call =
    <Q, A>(method: string, request: Codec<Q>, response: Codec<A>) =>
    (question: Q) =>
      new Promise<A>((resolve, reject) => {
        let late = false;
        const sent = client.makeUnaryRequest(
          `${SERVICE}/${method}`,
          request.encode,
          response.decode,
          question,
          new Metadata({ waitForReady: true }),
          (error, answer) => {
            timer.cancel();
            if (late)
              reject(new Error(`${endpoint} has not answered ${method} within ${timeoutMs} ms`, { cause: error }));
            else if (error !== null) reject(error);
            else if (answer === undefined) reject(new Error(`${method} was answered with nothing`));
            else resolve(answer);
          },
        );
        const timer = clock.timer(timeoutMs, () => {
          late = true;
          sent.cancel();
        });
      });
  const status = call("Status", statusRequest, statusResponse);
  return {
    status: () => status({}),
    encrypt: call("Encrypt", encryptRequest, encryptResponse),
    decrypt: call("Decrypt", decryptRequest, decryptResponse),
    close: () => client.close(),
  };
}
