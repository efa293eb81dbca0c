/**
 * Distributed claims: a token that names, instead of its groups, an endpoint where they are kept.
 *
 *     ID token (verified) ──► _claim_names, _claim_sources ──► GET endpoint ──► JWT ──► keys of its issuer ──► claim
 *
 * 1. Only the claim of the groups is fetched, and only if the token itself does not have it.
 * 2. The answer is verified like an ID token, against the keys of the issuer that it names, for the same audiences.
 *    Endpoint and issuer are reached by the certificate authority of the token's issuer.
 * 3. Whatever fails refuses the token: a user without some groups may be one whom a rule does not exclude.
 * 4. The answer's own `_claim_names` are not followed.
 * 5. At most `MAX_ISSUERS` issuers are kept: endpoints choose their names.
 */
import { goQuote, type JsonObject } from "#api";
import type { Clock, Dial, Logger } from "#base";
import { JsonClient } from "../json-request.ts";
import { MAX_TOKEN_CHARS, type Peeked, peek } from "../jwt.ts";
import { claimSource } from "./claim-sources.ts";
import { Provider } from "./provider.ts";
import { verifyIdToken } from "./verify.ts";

const TIMEOUT_MS = 30_000;
const MAX_ISSUERS = 16;
/** Claims are distributed because they are too many for a header. */
const MAX_ANSWER_CHARS = 32 * MAX_TOKEN_CHARS;

export interface DistributedClaimsOptions {
  /** The claim of the groups. */
  readonly claim: string;
  /** The issuer of the ID tokens, and its provider. */
  readonly issuer: string;
  readonly provider: Provider;
  /** PEM. */
  readonly ca?: string | undefined;
  /** Opens the connections. Default: plain TCP. */
  readonly dial?: Dial | undefined;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Thrown and caught in this file. */
class Unresolved extends Error {
  override readonly name = "Unresolved";
}

export class DistributedClaims {
  readonly #options: DistributedClaimsOptions;
  readonly #client: JsonClient;
  /** By issuer; the one that was not used for the longest time is first. */
  readonly #providers = new Map<string, Provider>();

  constructor(options: DistributedClaimsOptions) {
    this.#options = options;
    const { ca, dial, clock } = options;
    this.#client = new JsonClient({ tls: { ca }, timeoutMs: TIMEOUT_MS, dial, clock });
  }

  /** The claims with those that are kept elsewhere, or why they cannot be had. */
  async expand(claims: JsonObject): Promise<{ readonly claims: JsonObject } | { readonly fault: string }> {
    const { claim } = this.#options;
    const source = claimSource(claims, claim);
    if (source === undefined) return { claims };
    if ("fault" in source) return source;
    try {
      const { endpoint } = source;
      const token = await this.#fetch(endpoint, source.accessToken);
      const found = await this.#verified(token, endpoint);
      const value = Object.hasOwn(found, claim) ? found[claim] : undefined;
      if (value === undefined) {
        const where = goQuote(endpoint);
        throw new Unresolved(`jwt returned by distributed claim endpoint ${where} did not contain claim: ${claim}`);
      }
      return { claims: { ...claims, [claim]: value } };
    } catch (error) {
      if (error instanceof Unresolved) return { fault: error.message };
      throw error;
    }
  }

  close(): void {
    this.#client.close();
    for (const provider of this.#providers.values()) provider.close();
  }

  async #fetch(url: string, accessToken: string): Promise<string> {
    const about = `while getting distributed claim ${goQuote(this.#options.claim)}`;
    const authorization = accessToken === "" ? {} : { authorization: `Bearer ${accessToken}` };
    const answer = await this.#client.ask({ url, headers: { accept: "*/*", ...authorization } }).catch((error) => {
      throw new Unresolved(`${about}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
    const { status, reason, text } = answer;
    if (status < 200 || status > 226) {
      throw new Unresolved(`${about}: error while getting distributed claim JWT: ${status} ${reason}`.trimEnd());
    }
    return text.trim();
  }

  async #verified(token: string, endpoint: string): Promise<JsonObject> {
    const { audiences, algorithms, clock } = this.#options;
    const peeked = this.#peeked(token, endpoint);
    const issuer = String(peeked.claims.iss ?? "");
    const provider = this.#providerOf(issuer);
    const verified = await verifyIdToken(token, peeked, { provider, audiences, algorithms, nowMs: clock.now() });
    if (verified === "unready") {
      const why = `verifier not initialized for issuer: ${goQuote(issuer)}`;
      throw new Unresolved(`verifying untrusted issuer ${issuer} failed: ${why}`);
    }
    if (verified !== "good") throw new Unresolved(`verify distributed claim token: ${verified.fault}`);
    return peeked.claims;
  }

  #peeked(token: string, endpoint: string): Peeked {
    const peeked = peek(token, MAX_ANSWER_CHARS);
    if (peeked !== undefined) return peeked;
    const why = token.startsWith("{") ? "token is not compact JWT" : "malformed token";
    const about = `getting untrusted issuer from endpoint ${endpoint} failed for claim`;
    throw new Unresolved(`${about} ${goQuote(this.#options.claim)}: ${why}`);
  }

  #providerOf(issuer: string): Provider {
    const { ca, dial, clock, log } = this.#options;
    if (issuer === this.#options.issuer) return this.#options.provider;
    const provider = this.#providers.get(issuer) ?? new Provider({ issuer, ca, dial, clock, log });
    this.#providers.delete(issuer);
    this.#providers.set(issuer, provider);
    const [oldest] = this.#providers;
    if (this.#providers.size > MAX_ISSUERS && oldest !== undefined) {
      this.#providers.delete(oldest[0]);
      oldest[1].close();
    }
    return provider;
  }
}
