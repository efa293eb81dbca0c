/**
 * An OpenID Connect provider: discovery, and its keys.
 *
 *     issuer URL ──► discovery document ──► jwks_uri ──► keys ···► again: old, or an unknown key id
 *
 * 1. Discovery is retried until it succeeds; until then the provider has no keys, and its tokens are refused.
 * 2. A token with an unknown key id triggers a fetch of the keys, at most every few seconds: anybody can invent a key
 *    id.
 * 3. Keys are fetched again, at the next token, when they are ten minutes old. If that fails, the old keys stay.
 */
import type { JWK } from "jose";
import { isObject, type JsonObject } from "#api";
import type { Clock, Dial, Logger } from "#base";
import { JsonClient } from "../json-request.ts";

const RETRY_MS = 10_000;
const REFRESH_MS = 10 * 60_000;
const COOLDOWN_MS = 5_000;
const TIMEOUT_MS = 30_000;

export interface ProviderOptions {
  readonly issuer: string;
  /** The URL of the discovery document, if not below the issuer's URL. */
  readonly discoveryUrl?: string | undefined;
  /** PEM. */
  readonly ca?: string | undefined;
  /** Opens the connections. Default: plain TCP. */
  readonly dial?: Dial | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Provider {
  readonly #options: ProviderOptions;
  readonly #client: JsonClient;
  #jwksUri: string | undefined;
  #discovering: Promise<string> | undefined;
  #keys: readonly JWK[] = [];
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<readonly JWK[]> | undefined;

  constructor(options: ProviderOptions) {
    this.#options = options;
    const { ca, dial, clock } = options;
    this.#client = new JsonClient({ tls: { ca }, timeoutMs: TIMEOUT_MS, dial, clock });
  }

  get ready(): boolean {
    return this.#jwksUri !== undefined;
  }

  /** Tries discovery until it succeeds or the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, issuer } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#discovered();
        return;
      } catch (error) {
        if (!signal.aborted) log.error("an OpenID provider cannot be reached; trying again", { issuer, error });
      }
      await clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }

  /** The keys that may have signed a token with this kid; without one, all keys. */
  async keysFor(kid: string): Promise<readonly JWK[]> {
    const named = () => this.#keys.filter((key) => kid === "" || key.kid === kid);
    const age = this.#options.clock.monotonic() - this.#fetchedMs;
    if (age > REFRESH_MS || (named().length === 0 && age > COOLDOWN_MS)) await this.#refreshed();
    return named();
  }

  /** Fetches the keys again, unless they are fresh: a provider may have replaced a key and kept its id. */
  async changedKeysFor(kid: string): Promise<readonly JWK[]> {
    const before = this.#keys;
    if (this.#options.clock.monotonic() - this.#fetchedMs > COOLDOWN_MS) await this.#refreshed();
    return this.#keys === before ? [] : this.keysFor(kid);
  }

  close(): void {
    this.#client.close();
  }

  #discovered(): Promise<string> {
    if (this.#jwksUri !== undefined) return Promise.resolve(this.#jwksUri);
    this.#discovering ??= this.#discover().finally(() => {
      this.#discovering = undefined;
    });
    return this.#discovering;
  }

  async #discover(): Promise<string> {
    const { issuer, discoveryUrl } = this.#options;
    const url = discoveryUrl ?? `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const { issuer: named, jwks_uri: jwksUri } = await this.#get(url);
    if (named !== issuer) {
      const got = JSON.stringify(named ?? "");
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuer)} got ${got}`,
      );
    }
    if (typeof jwksUri !== "string") throw new Error(`${url} names no jwks_uri`);
    this.#jwksUri = jwksUri;
    return jwksUri;
  }

  /** Never throws: on failure the old keys stay. */
  async #refreshed(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    try {
      this.#keys = await this.#fetching;
    } catch (error) {
      this.#options.log.error("the keys of an OpenID provider cannot be fetched", {
        issuer: this.#options.issuer,
        error,
      });
    }
  }

  async #fetch(): Promise<readonly JWK[]> {
    const uri = await this.#discovered();
    try {
      const { keys } = await this.#get(uri);
      if (!Array.isArray(keys)) throw new Error(`${uri} holds no key set`);
      return (keys as readonly JsonObject[]).filter(isObject) as readonly JWK[];
    } finally {
      // Also after a failure: invented key ids must not make this server flood the provider.
      this.#fetchedMs = this.#options.clock.monotonic();
    }
  }

  async #get(url: string): Promise<JsonObject> {
    const { status, text } = await this.#client.ask({ url });
    if (status !== 200) throw new Error(`${url} answers with ${status}`);
    const value: unknown = JSON.parse(text);
    if (!isObject(value as JsonObject)) throw new Error(`${url} holds no JSON object`);
    return value as JsonObject;
  }
}
