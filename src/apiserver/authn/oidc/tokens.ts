/**
 * Tokens of an OpenID Connect provider.
 *
 *     token ──► issuer ──► algorithm ──► signature (keys of the provider) ──► audience ──► times ──► claims to user
 *
 * 1. Tokens of other issuers are left to other authenticators; an invalid token of this issuer is refused.
 */
import { goQuote, type JsonObject } from "#api";
import type { Clock, Logger } from "#base";
import { audiencesOf, checkSignature, LEEWAY_SECONDS, peek } from "../jwt.ts";
import { type Refused, refused, type TokenAuthenticator } from "../verdict.ts";
import { claimsToUser } from "./claims-to-user.ts";
import type { JwtAuthenticator } from "./configuration.ts";
import type { ExpressionCompiler } from "./expressions.ts";
import { Provider } from "./provider.ts";

export const SIGNING_ALGORITHMS: readonly string[] = [
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
];

export interface OidcOptions {
  readonly authenticator: JwtAuthenticator;
  readonly algorithms: readonly string[];
  readonly compiler: ExpressionCompiler;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OidcTokens {
  readonly authenticate: TokenAuthenticator;
  /** Runs discovery until it succeeds. */
  run(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function oidcTokens({ authenticator, algorithms, compiler, clock, log }: OidcOptions): OidcTokens {
  const { url, discoveryURL, certificateAuthority, audiences } = authenticator.issuer;
  const toUser = claimsToUser(authenticator, compiler);
  const provider = new Provider({
    issuer: url,
    discoveryUrl: discoveryURL === "" ? undefined : discoveryURL,
    ca: certificateAuthority === "" ? undefined : certificateAuthority,
    clock,
    log,
  });

  const isSigned = async (token: string, kid: string): Promise<boolean> => {
    for (const keys of [() => provider.keysFor(kid), () => provider.changedKeysFor(kid)]) {
      for (const key of await keys()) if ((await checkSignature(token, key, algorithms)) === "good") return true;
    }
    return false;
  };

  const authenticate: TokenAuthenticator = async (token) => {
    const peeked = peek(token);
    if (peeked === undefined || issuerOf(peeked.claims) !== url) return undefined;
    const { header, claims } = peeked;
    const fault = claimsFault(claims, audiences, clock.now());
    if (fault !== undefined) return fault;
    const { alg, kid } = header;
    if (typeof alg !== "string" || !algorithms.includes(alg)) {
      const got = goQuote(String(alg ?? ""));
      return verifyFault(`oidc: id token signed with unsupported algorithm, expected ${goList(algorithms)} got ${got}`);
    }
    if (!(await isSigned(token, typeof kid === "string" ? kid : ""))) {
      if (!provider.ready) return refused("oidc: authenticator not initialized");
      return verifyFault("failed to verify signature: failed to verify id token signature");
    }
    const user = toUser(claims);
    return "refused" in user ? user : { user };
  };

  return { authenticate, run: (signal) => provider.run(signal), close: () => provider.close() };
}

/** Google's tokens once had an issuer without the scheme. */
function issuerOf({ iss }: JsonObject): string {
  return iss === "accounts.google.com" ? "https://accounts.google.com" : String(iss ?? "");
}

function claimsFault(claims: JsonObject, audiences: readonly string[], now: number): Refused | undefined {
  const { exp, nbf } = claims;
  const named = audiencesOf(claims);
  if (!audiences.some((audience) => named.includes(audience))) {
    const [only = ""] = audiences;
    const expected = audiences.length === 1 ? goQuote(only) : `in ${goList(audiences)}`;
    return verifyFault(`oidc: expected audience ${expected} got ${goList(named)}`);
  }
  if (typeof exp !== "number" || exp * 1000 < now) {
    return verifyFault(`oidc: token is expired (Token Expiry: ${goTime(typeof exp === "number" ? exp * 1000 : 0)})`);
  }
  if (typeof nbf === "number" && now + LEEWAY_SECONDS * 1000 < nbf * 1000) {
    return verifyFault(`oidc: current time ${goTime(now)} before the nbf (not before) time: ${goTime(nbf * 1000)}`);
  }
  return undefined;
}

function verifyFault(why: string): Refused {
  return refused(`oidc: verify token: ${why}`);
}

function goList(values: readonly string[]): string {
  return `[${values.map(goQuote).join(" ")}]`;
}

/** A number that is not a valid time is shown as it is. */
function goTime(ms: number): string {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return String(ms / 1000);
  return `${time.toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`;
}
