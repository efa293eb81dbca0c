/**
 * A signer outside of the server (`--service-account-signing-endpoint`): it signs service account tokens and says which
 * keys verify them, over gRPC at a Unix socket.
 *
 *     token request ──► Sign                 unknown kid ──► FetchKeys ···► again after the signer's hint
 *
 * 1. Keys are fetched before the server starts, whenever a token names a key that is not known, and when the signer
 *    wants it. If that fails the keys of before stay, and it is tried again after 10 s.
 * 2. A signed token has a header of exactly alg, kid and typ, with an algorithm that the server verifies and a key that
 *    is published: anything else is refused, because clients could not use the token.
 */
import { createPublicKey } from "node:crypto";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { JsonObject } from "#api";
import { type Clock, isAbort, type Logger, TaskGroup } from "#base";
import { described, type VerificationKey } from "../keys.ts";
import {
  type Codec,
  keysResponse,
  metadataResponse,
  nothing,
  type SignerKey,
  type SignResponse,
  signRequest,
  signResponse,
} from "./wire.ts";

export const SIGNER_SERVICE = "/v1.ExternalJWTSigner";
const CALL_MS = 60_000;
const METADATA_MS = 10_000;
const RETRY_MS = 10_000;
const MAX_ID = 1024;
const ALGORITHMS = ["RS256", "ES256", "ES384", "ES512"];
const SETTINGS = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2_000,
  // The path of a Unix socket is not a valid host name.
  "grpc.default_authority": "localhost",
};

export interface ExternalSignerOptions {
  /** The path of the socket. */
  readonly socket: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ExternalSigner {
  readonly #options: ExternalSignerOptions;
  readonly #client: Client;
  readonly #tasks = new TaskGroup();
  #keys: readonly VerificationKey[] = [];
  #refreshMs = RETRY_MS;
  #fetching: Promise<void> | undefined;
  #generation = 0;
  #maxExpirationSeconds = 0;

  private constructor(options: ExternalSignerOptions) {
    this.#options = options;
    this.#client = new Client(`unix:${options.socket}`, credentials.createInsecure(), SETTINGS);
  }

  /** Throws if the signer does not answer, or answers with something that cannot be used. */
  static async open(options: ExternalSignerOptions): Promise<ExternalSigner> {
    const signer = new ExternalSigner(options);
    try {
      await signer.#fetch().catch((error: unknown) => {
        throw wrapped("while initially filling key cache: while performing initial cache fill", error);
      });
      const { maxTokenExpirationSeconds } = await signer.#call("Metadata", nothing, metadataResponse, {}, METADATA_MS);
      signer.#maxExpirationSeconds = maxTokenExpirationSeconds;
    } catch (error) {
      await signer.close();
      throw wrapped("while setting up external-jwt-signer", error);
    }
    signer.#tasks.run("keys of the external signer", (signal) => signer.#refresh(signal));
    return signer;
  }

  /** The longest life of a token that it signs. */
  get maxExpirationSeconds(): number {
    return this.#maxExpirationSeconds;
  }

  get keys(): readonly VerificationKey[] {
    return this.#keys;
  }

  /** Changes with the keys. */
  get generation(): number {
    return this.#generation;
  }

  /** The keys with this id; without one, all. */
  async keysFor(id: string): Promise<readonly VerificationKey[]> {
    const known = this.#find(id);
    if (known.length > 0) return known;
    try {
      await this.#fetch();
    } catch (error) {
      this.#options.log.error("the keys of the external signer could not be fetched", { error });
      return [];
    }
    return this.#find(id);
  }

  /** The claims as a signed JWT. */
  async sign(claims: JsonObject): Promise<string> {
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const response = await this.#call("Sign", signRequest, signResponse, { claims: payload }, CALL_MS).catch(
      (error: unknown) => {
        throw wrapped("while signing jwt", error);
      },
    );
    await this.#checkHeader(response).catch((error: unknown) => {
      throw wrapped("while validating header", error);
    });
    if (response.signature === "") throw new Error("empty signature returned");
    return `${response.header}.${payload}.${response.signature}`;
  }

  async close(): Promise<void> {
    await this.#tasks.stop();
    this.#client.close();
  }

  #find(id: string): readonly VerificationKey[] {
    return id === "" ? this.#keys : this.#keys.filter((key) => key.id === id);
  }

  async #checkHeader({ header }: SignResponse): Promise<void> {
    const { alg, kid, typ, ...others } = JSON.parse(Buffer.from(header, "base64url").toString("utf8")) as JsonObject;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      throw new Error(`while parsing header JSON: json: unknown field ${JSON.stringify(unknown)}`);
    if (typ !== "JWT") throw new Error("bad type");
    if (typeof kid !== "string" || kid === "") throw new Error("key id missing");
    if (kid.length > MAX_ID) throw new Error("key id longer than 1 kb");
    if (!ALGORITHMS.includes(String(alg))) throw new Error(`bad signing algorithm ${JSON.stringify(alg ?? "")}`);
    if ((await this.keysFor(kid)).some(({ isUnpublished }) => isUnpublished === true))
      throw new Error(`key used for signing JWT (kid: ${kid}) is excluded from OIDC discovery docs`);
  }

  /** One at a time: tokens with an unknown key must not flood the signer. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#fetchOnce().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchOnce(): Promise<void> {
    const wrap = (error: unknown) => {
      throw wrapped("while getting externally supported jwt signing keys", error);
    };
    const answer = await this.#call("FetchKeys", nothing, keysResponse, {}, CALL_MS).catch(wrap);
    const { keys, refreshHintSeconds: hint } = answer;
    if (hint <= 0) throw new Error(`found invalid refresh hint (${hint}s)`);
    if (keys.length === 0) throw new Error("found no keys");
    if (answer.dataTimestamp === undefined) throw new Error("invalid data timestamp: invalid nil Timestamp");
    const read = keys.map(verificationKey);
    this.#refreshMs = hint * 1000;
    if (!sameKeys(read, this.#keys)) this.#generation++;
    this.#keys = read;
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let waitMs = this.#refreshMs;
    while (!signal.aborted) {
      try {
        await clock.sleep(waitMs, signal);
        await this.#fetch();
        waitMs = this.#refreshMs;
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.error("the keys of the external signer could not be fetched; those of before stay in use", { error });
        waitMs = RETRY_MS;
      }
    }
  }

  #call<Q, A>(method: string, request: Codec<Q>, response: Codec<A>, question: Q, limitMs: number): Promise<A> {
    return new Promise<A>((resolve, reject) => {
      let late = false;
      const sent = this.#client.makeUnaryRequest(
        `${SIGNER_SERVICE}/${method}`,
        request.encode,
        response.decode,
        question,
        new Metadata({ waitForReady: true }),
        (error, answer) => {
          timer.cancel();
          if (late) reject(new Error(`${method} was not answered within ${limitMs} ms`, { cause: error }));
          else if (error !== null) reject(error);
          else if (answer === undefined) reject(new Error(`${method} was answered with nothing`));
          else resolve(answer);
        },
      );
      const timer = this.#options.clock.timer(limitMs, () => {
        late = true;
        sent.cancel();
      });
    });
  }
}

function verificationKey({ id, der, excludeFromOidcDiscovery: isUnpublished }: SignerKey): VerificationKey {
  if (id === "" || id.length > MAX_ID) throw new Error(`found invalid public key id ${JSON.stringify(id)}`);
  if (der.length === 0) throw new Error("found empty public key");
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return { ...described(key, "the external signer"), id, isUnpublished };
  } catch (error) {
    throw wrapped("while parsing external public keys", error);
  }
}

function sameKeys(a: readonly VerificationKey[], b: readonly VerificationKey[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, i) => {
      const other = b[i];
      return (
        other !== undefined &&
        one.id === other.id &&
        one.key.equals(other.key) &&
        one.isUnpublished === other.isUnpublished
      );
    })
  );
}

function wrapped(what: string, error: unknown): Error {
  return new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
