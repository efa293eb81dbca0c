/**
 * The verdict of one authenticator on a credential.
 *
 *     known       its user
 *     refused     a credential of this authenticator that is invalid, and why
 *     undefined   not a credential of this authenticator
 *
 * 1. An authenticator never throws for an invalid credential: the next one may know it.
 * 2. The reason of a refusal goes to the log and to TokenReview, never to the client.
 */
import type { ApiRequest } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";

export type Verdict = Known | Refused | undefined;

export interface Known {
  readonly user: UserInfo;
  /** The requested audiences that the credential has. Absent: it has no audiences. */
  readonly audiences?: readonly string[];
  /** Warnings for the client. */
  readonly warnings?: readonly string[];
  /** For the audit log. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Refused {
  readonly refused: readonly string[];
}

/** `audiences`: the token has to have one of them. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Promise<Verdict>;

/** By the connection itself: synchronous. */
export type RequestAuthenticator = (request: ApiRequest) => Verdict;

export function refused(...errors: readonly string[]): Refused {
  return { refused: errors };
}

export function isKnown(verdict: Verdict): verdict is Known {
  return verdict !== undefined && "user" in verdict;
}

/** Tries one after the other: the first that knows the credential decides. */
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

/** For authenticators without audiences: their tokens are for the API server itself. */
export function forApi(own: readonly string[], authenticate: TokenAuthenticator): TokenAuthenticator {
  return async (token, audiences) => {
    const meant = own.filter((audience) => audiences.includes(audience));
    if (meant.length === 0 && audiences.length > 0) return undefined;
    const verdict = await authenticate(token, audiences);
    return isKnown(verdict) ? { ...verdict, audiences: meant } : verdict;
  };
}

/** Several errors in one message, each once, like Go's aggregates. */
export function errorText(errors: readonly string[]): string {
  const [first = "", ...more] = new Set(errors);
  return more.length === 0 ? first : `[${[first, ...more].join(", ")}]`;
}
