/**
 * What one way of authentication says of a credential.
 *
 *     known       whose it is
 *     refused     it is of this way's kind, and not good: what is wrong with it
 *     undefined   it is none of this way's business
 *
 * 1. A way never throws for a bad credential: the next one may know it.
 * 2. What is wrong goes to the log and to TokenReview, never to the one who presented the credential.
 */
import type { ApiRequest } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";

export type Verdict = Known | Refused | undefined;

export interface Known {
  readonly user: UserInfo;
  /** Those of the audiences asked for that it is meant for. Absent: it has nothing to do with audiences. */
  readonly audiences?: readonly string[];
  /** For the caller to see. */
  readonly warnings?: readonly string[];
  /** For the audit log. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Refused {
  readonly refused: readonly string[];
}

/** `audiences`: for whom the token has to be meant, one of them at least. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Promise<Verdict>;

/** By what the connection itself shows: there is nothing to wait for. */
export type RequestAuthenticator = (request: ApiRequest) => Verdict;

export function refused(...errors: readonly string[]): Refused {
  return { refused: errors };
}

export function isKnown(verdict: Verdict): verdict is Known {
  return verdict !== undefined && "user" in verdict;
}

/** Asks one after the other: the first who knows it counts. */
export function firstOf(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return async (token, audiences) => {
    const errors: string[] = [];
    for (const authenticate of authenticators) {
      const verdict = await authenticate(token, audiences);
      if (isKnown(verdict)) return verdict;
      if (verdict !== undefined) errors.push(...verdict.refused);
    }
    return errors.length === 0 ? undefined : refused(...errors);
  };
}

/** For ways that know nothing of audiences: what they know is meant for the API server itself. */
export function forApi(own: readonly string[], authenticate: TokenAuthenticator): TokenAuthenticator {
  return async (token, audiences) => {
    const meant = own.filter((audience) => audiences.includes(audience));
    if (meant.length === 0 && audiences.length > 0) return undefined;
    const verdict = await authenticate(token, audiences);
    return isKnown(verdict) ? { ...verdict, audiences: meant } : verdict;
  };
}

/** Several errors in one text, each once, as Go's aggregates print them. */
export function errorText(errors: readonly string[]): string {
  const [first = "", ...more] = new Set(errors);
  return more.length === 0 ? first : `[${[first, ...more].join(", ")}]`;
}
