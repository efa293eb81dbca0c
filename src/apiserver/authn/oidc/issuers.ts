/**
 * All issuers of an AuthenticationConfiguration. It may change while the server runs: the new one applies from the next
 * token on.
 */
import type { Clock, Logger } from "#base";
import type { Egress } from "../../egress/index.ts";
import type { AuthenticationMetrics } from "../metrics.ts";
import { cached } from "../token-cache.ts";
import { firstOf, isKnown, type TokenAuthenticator } from "../verdict.ts";
import { type AuthenticationConfiguration, invalidConfiguration } from "./configuration.ts";
import type { ExpressionCompiler } from "./expressions.ts";
import { type OidcTokens, oidcTokens } from "./tokens.ts";
import { validateAuthenticationConfiguration } from "./validate.ts";

const REMEMBERED_MS = 10_000;

export interface IssuersOptions {
  readonly algorithms: readonly string[];
  /** The cluster's own issuers, which no other may claim to be. */
  readonly disallowedIssuers: readonly string[];
  readonly compiler: ExpressionCompiler;
  /** How providers with an egressSelectorType are reached. Absent: there may be none. */
  readonly egress?: Egress | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Absent: nothing is measured. */
  readonly metrics?: AuthenticationMetrics | undefined;
}

export class OidcIssuers {
  readonly #options: IssuersOptions;
  #issuers: readonly OidcTokens[] = [];
  #authenticate: TokenAuthenticator = async () => undefined;
  #current = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: IssuersOptions) {
    this.#options = options;
  }

  readonly authenticate: TokenAuthenticator = (token, audiences) => this.#authenticate(token, audiences);

  /** Throws ConfigurationError and changes nothing if the configuration is invalid. `file`: its name, for messages. */
  replace(configuration: AuthenticationConfiguration, file: string): void {
    const { disallowedIssuers, compiler, egress, clock, metrics } = this.#options;
    const errors = validateAuthenticationConfiguration(
      configuration,
      disallowedIssuers,
      compiler,
      egress !== undefined,
    );
    if (errors.length > 0) throw invalidConfiguration(file, errors);
    const issuers = configuration.jwt.map((authenticator) => oidcTokens({ ...this.#options, authenticator }));
    this.#end();
    const current = new AbortController();
    this.#current = current;
    this.#issuers = issuers;
    const all = firstOf(
      issuers.map(({ authenticate }, i) => measured(authenticate, configuration.jwt[i]?.issuer.url ?? "", metrics)),
    );
    const remembered = { clock, successMs: REMEMBERED_MS, failureMs: 0, metrics: metrics?.tokenCache };
    this.#authenticate = cached(all, remembered);
    this.#running = Promise.all(issuers.map((issuer) => issuer.run(current.signal)));
  }

  async close(): Promise<void> {
    this.#end();
    await this.#running;
  }

  #end(): void {
    this.#current.abort();
    for (const issuer of this.#issuers) issuer.close();
  }
}

/** Tokens of other issuers do not count. */
function measured(
  authenticate: TokenAuthenticator,
  issuer: string,
  metrics: AuthenticationMetrics | undefined,
): TokenAuthenticator {
  if (metrics === undefined) return authenticate;
  return async (token, audiences) => {
    const startMs = metrics.now();
    const verdict = await authenticate(token, audiences);
    if (verdict !== undefined) metrics.jwtAuthenticated(issuer, isKnown(verdict) ? "success" : "failure", startMs);
    return verdict;
  };
}
