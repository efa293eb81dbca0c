/**
 * Remembers for a while what was said of a token, so that a way of authentication that asks others is not asked for every request.
 *
 * 1. Tokens are kept as digests only, with a key of this process's own: nothing of them can be read from memory, nor collisions be prepared.
 * 2. Requests with the same token at the same time wait for one answer.
 * 3. That a token is not known is remembered for as long as `failureMs`; what went wrong with one is not: it may go right the next time.
 */
import { hash, randomBytes } from "node:crypto";
import { type Clock, TtlMap } from "#base";
import { isKnown, type TokenAuthenticator, type Verdict } from "./verdict.ts";

const MAX_TOKENS = 10_000;

export interface TokenCacheOptions {
  readonly clock: Clock;
  readonly successMs: number;
  readonly failureMs: number;
  readonly maxTokens?: number;
}

export function cached(authenticate: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const { clock, successMs, failureMs, maxTokens = MAX_TOKENS } = options;
  const key = tokenKey();
  const remembered = new TtlMap<string, { readonly verdict: Verdict }>(maxTokens, clock);
  const underWay = new Map<string, Promise<Verdict>>();

  const ask = async (id: string, token: string, audiences: readonly string[]): Promise<Verdict> => {
    try {
      const verdict = await authenticate(token, audiences);
      const ms = isKnown(verdict) ? successMs : verdict === undefined ? failureMs : 0;
      remembered.set(id, { verdict }, ms);
      return verdict;
    } finally {
      underWay.delete(id);
    }
  };

  return async (token, audiences) => {
    const id = key(token, audiences);
    const found = remembered.get(id);
    if (found !== undefined) return found.verdict;
    const waiting = underWay.get(id) ?? ask(id, token, audiences);
    underWay.set(id, waiting);
    return waiting;
  };
}

/** A digest of a token and of whom it is asked for. */
export function tokenKey(): (token: string, audiences?: readonly string[]) => string {
  const secret = randomBytes(32).toString("hex");
  return (token, audiences = []) =>
    hash("sha256", secret + (audiences.length === 0 ? token : JSON.stringify([token, ...audiences])), "base64");
}
