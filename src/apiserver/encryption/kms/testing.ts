/** A KMS plugin for tests: real gRPC at a Unix socket, keys in memory, and faults on demand. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type handleUnaryCall, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { aesGcm } from "../aes.ts";
import { SERVICE } from "./plugin.ts";
import {
  type Codec,
  decryptRequest,
  decryptResponse,
  encryptRequest,
  encryptResponse,
  statusRequest,
  statusResponse,
} from "./wire.ts";

export interface TestPlugin {
  readonly endpoint: string;
  /** The key that encrypts; earlier keys still decrypt. */
  keyId: string;
  healthz: string;
  /** Refuses every call. */
  down: boolean;
  /** Accepts calls and never answers. */
  hangs: boolean;
  /** The methods that were called. */
  readonly calls: string[];
  close(): Promise<void>;
}

export async function testPlugin(): Promise<TestPlugin> {
  const dir = await mkdtemp(join(tmpdir(), "kms-"));
  const endpoint = `unix://${join(dir, "kms.sock")}`;
  const server = new Server();
  const cipherOf = (keyId: string) => aesGcm(Buffer.alloc(32, keyId));
  const plugin: TestPlugin = {
    endpoint,
    keyId: "key-1",
    healthz: "ok",
    down: false,
    hangs: false,
    calls: [],
    close: async () => {
      server.forceShutdown();
      await rm(dir, { recursive: true, force: true });
    },
  };
  const method = <Q, A>(name: string, request: Codec<Q>, response: Codec<A>, answer: (question: Q) => A) => {
    const handler: handleUnaryCall<Q, A> = ({ request: question }, callback) => {
      plugin.calls.push(name);
      if (plugin.hangs) return;
      if (plugin.down) callback({ code: status.UNAVAILABLE, details: "the plugin is down" });
      else {
        try {
          callback(null, answer(question));
        } catch (error) {
          callback({ code: status.INVALID_ARGUMENT, details: (error as Error).message });
        }
      }
    };
    const path = `${SERVICE}/${name}`;
    const codecs = {
      requestSerialize: request.encode,
      requestDeserialize: request.decode,
      responseSerialize: response.encode,
      responseDeserialize: response.decode,
    };
    return { definition: { path, requestStream: false, responseStream: false, ...codecs }, handler };
  };
  const methods = {
    Status: method("Status", statusRequest, statusResponse, () => ({
      version: "v2",
      healthz: plugin.healthz,
      keyId: plugin.keyId,
    })),
    Encrypt: method("Encrypt", encryptRequest, encryptResponse, ({ plaintext }) => ({
      ciphertext: cipherOf(plugin.keyId).seal(plaintext, ""),
      keyId: plugin.keyId,
      annotations: new Map([["kms.example.com", Buffer.from("local")]]),
    })),
    Decrypt: method("Decrypt", decryptRequest, decryptResponse, ({ ciphertext, keyId, annotations }) => {
      if (annotations.get("kms.example.com")?.toString() !== "local") throw new Error("annotations are missing");
      return { plaintext: cipherOf(keyId).open(ciphertext, "") };
    }),
  };
  const entries = Object.entries(methods);
  server.addService(
    Object.fromEntries(entries.map(([name, { definition }]) => [name, definition])),
    Object.fromEntries(entries.map(([name, { handler }]) => [name, handler as handleUnaryCall<unknown, unknown>])),
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return plugin;
}
