/**
 * Caches the verdicts on tokens, for authenticators that ask other servers.
 *
 * 1. Tokens are stored as digests with a key of this process: they cannot be read from memory, and collisions cannot be
 *    prepared.
 * 2. Concurrent requests with the same token wait for one answer.
 * 3. Unknown tokens are cached for `failureMs`; failures are not cached.
 */
import { hash, randomBytes } from "node:crypto";
import { type Clock, TtlMap } from "#base";
import type { TokenCacheMetrics } from "./metrics.ts";
import { isKnown, type TokenAuthenticator, type Verdict } from "./verdict.ts";

const MAX_TOKENS = 10_000;

export interface TokenCacheOptions {
  readonly clock: Clock;
  readonly successMs: number;
  readonly failureMs: number;
  readonly maxTokens?: number;
  /** Absent: nothing is measured. */
  readonly metrics?: TokenCacheMetrics | undefined;
}

export function cached(authenticate: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const { clock, successMs, failureMs, maxTokens = MAX_TOKENS, metrics } = options;
  const key = tokenKey();
  const remembered = new TtlMap<string, { readonly verdict: Verdict }>(maxTokens, clock);
  const underWay = new Map<string, Promise<Verdict>>();

  const ask = async (id: string, token: string, audiences: readonly string[]): Promise<Verdict> => {
    metrics?.inFlight.inc();
    try {
      const verdict = await authenticate(token, audiences);
      metrics?.fetched(isKnown(verdict));
      const ms = isKnown(verdict) ? successMs : verdict === undefined ? failureMs : 0;
      remembered.set(id, { verdict }, ms);
      return verdict;
    } finally {
      metrics?.inFlight.dec();
      underWay.delete(id);
    }
  };

  return async (token, audiences) => {
    const id = key(token, audiences);
    const startMs = metrics === undefined ? 0 : clock.monotonic();
    const found = remembered.get(id);
    if (found !== undefined) {
      metrics?.requested(true, startMs);
      return found.verdict;
    }
    const waiting = underWay.get(id) ?? ask(id, token, audiences);
    underWay.set(id, waiting);
    if (metrics === undefined) return waiting;
    metrics.blocked.inc();
    try {
      return await waiting;
    } finally {
      metrics.blocked.dec();
      metrics.requested(false, startMs);
    }
  };
}

/** A digest of a token and the requested audiences. */
export function tokenKey(): (token: string, audiences?: readonly string[]) => string {
  const secret = randomBytes(32).toString("hex");
  return (token, audiences = []) =>
    hash("sha256", secret + (audiences.length === 0 ? token : JSON.stringify([token, ...audiences])), "base64");
}
