/** A signer of service account tokens for tests: real gRPC at a Unix socket, keys in memory, and faults on demand. */
import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type handleUnaryCall, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { SIGNER_SERVICE } from "../service-account/external/signer.ts";
import {
  type Codec,
  keysResponse,
  metadataResponse,
  nothing,
  type SignerKey,
  signRequest,
  signResponse,
} from "../service-account/external/wire.ts";

export interface TestSigner {
  readonly socket: string;
  /** The header of signed tokens. */
  header: Record<string, unknown>;
  /** The keys that it tells; `key-1` signs. */
  keys: SignerKey[];
  refreshHintSeconds: number;
  maxTokenExpirationSeconds: number;
  /** Refuses every call. */
  down: boolean;
  /** The methods that were called. */
  readonly calls: string[];
  close(): Promise<void>;
}

export async function testSigner(): Promise<TestSigner> {
  const dir = await mkdtemp(join(tmpdir(), "signer-"));
  const socket = join(dir, "signer.sock");
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = new Server();
  const signer: TestSigner = {
    socket,
    header: { alg: "ES256", kid: "key-1", typ: "JWT" },
    keys: [{ id: "key-1", der: publicKey.export({ type: "spki", format: "der" }), excludeFromOidcDiscovery: false }],
    refreshHintSeconds: 60,
    maxTokenExpirationSeconds: 7200,
    down: false,
    calls: [],
    close: async () => {
      server.forceShutdown();
      await rm(dir, { recursive: true, force: true });
    },
  };
  const method = <Q, A>(name: string, request: Codec<Q>, response: Codec<A>, answer: (question: Q) => A) => {
    const handler: handleUnaryCall<Q, A> = ({ request: question }, callback) => {
      signer.calls.push(name);
      if (signer.down) callback({ code: status.UNAVAILABLE, details: "the signer is down" });
      else callback(null, answer(question));
    };
    const codecs = {
      requestSerialize: request.encode,
      requestDeserialize: request.decode,
      responseSerialize: response.encode,
      responseDeserialize: response.decode,
    };
    const path = `${SIGNER_SERVICE}/${name}`;
    return { definition: { path, requestStream: false, responseStream: false, ...codecs }, handler };
  };
  const methods = Object.entries({
    Sign: method("Sign", signRequest, signResponse, ({ claims }) => {
      const header = Buffer.from(JSON.stringify(signer.header)).toString("base64url");
      const input = Buffer.from(`${header}.${claims}`);
      const signature = signBytes("sha256", input, { key: privateKey, dsaEncoding: "ieee-p1363" });
      return { header, signature: signature.toString("base64url") };
    }),
    FetchKeys: method("FetchKeys", nothing, keysResponse, () => ({ ...signer, dataTimestamp: 1_700_000_000 })),
    Metadata: method("Metadata", nothing, metadataResponse, () => signer),
  });
  server.addService(
    Object.fromEntries(methods.map(([name, { definition }]) => [name, definition])),
    Object.fromEntries(methods.map(([name, { handler }]) => [name, handler as handleUnaryCall<unknown, unknown>])),
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return signer;
}
