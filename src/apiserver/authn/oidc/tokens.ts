/**
 * Tokens of an OpenID Connect provider.
 *
 *     token ──► issuer ──► algorithm ──► signature (keys of the provider) ──► audience ──► times
 *                                                                           ──► distributed claims ──► claims to user
 *
 * 1. Tokens of other issuers are left to other authenticators; an invalid token of this issuer is refused.
 */
import type { JsonObject } from "#api";
import type { Clock, Dial, Logger } from "#base";
import type { Egress } from "../../egress/index.ts";
import { peek } from "../jwt.ts";
import { refused, type TokenAuthenticator } from "../verdict.ts";
import { claimsToUser } from "./claims-to-user.ts";
import type { JwtAuthenticator } from "./configuration.ts";
import { DistributedClaims } from "./distributed-claims.ts";
import type { ExpressionCompiler } from "./expressions.ts";
import { Provider } from "./provider.ts";
import { verifyIdToken } from "./verify.ts";

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
  readonly egress?: Egress | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OidcTokens {
  readonly authenticate: TokenAuthenticator;
  /** Runs discovery until it succeeds. */
  run(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function oidcTokens({ authenticator, algorithms, compiler, egress, clock, log }: OidcOptions): OidcTokens {
  const { url, discoveryURL, certificateAuthority, audiences } = authenticator.issuer;
  const { claim } = authenticator.claimMappings.groups;
  const toUser = claimsToUser(authenticator, compiler);
  const ca = certificateAuthority === "" ? undefined : certificateAuthority;
  const discoveryUrl = discoveryURL === "" ? undefined : discoveryURL;
  const dial = dialOf(authenticator.issuer.egressSelectorType, egress);
  const provider = new Provider({ issuer: url, discoveryUrl, ca, dial, clock, log });
  const sources = { claim, issuer: url, provider, ca, dial, audiences, algorithms, clock, log };
  const distributed = claim === "" ? undefined : new DistributedClaims(sources);

  const authenticate: TokenAuthenticator = async (token) => {
    const peeked = peek(token);
    if (peeked === undefined || issuerOf(peeked.claims) !== url) return undefined;
    const verified = await verifyIdToken(token, peeked, { provider, audiences, algorithms, nowMs: clock.now() });
    if (verified === "unready") return refused("oidc: authenticator not initialized");
    if (verified !== "good") return refused(`oidc: verify token: ${verified.fault}`);
    const expanded = (await distributed?.expand(peeked.claims)) ?? peeked;
    if ("fault" in expanded) return refused(`oidc: could not expand distributed claims: ${expanded.fault}`);
    const user = toUser(expanded.claims);
    return "refused" in user ? user : { user };
  };

  return {
    authenticate,
    run: (signal) => provider.run(signal),
    close: () => {
      provider.close();
      distributed?.close();
    },
  };
}

function dialOf(type: string, egress: Egress | undefined): Dial | undefined {
  if (type === "cluster") return egress?.cluster;
  return type === "controlplane" ? egress?.controlplane : undefined;
}

/** Google's tokens once had an issuer without the scheme. */
function issuerOf({ iss }: JsonObject): string {
  return iss === "accounts.google.com" ? "https://accounts.google.com" : String(iss ?? "");
}
