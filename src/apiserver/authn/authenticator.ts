/**
 * Who makes a request. Authenticators are tried in this order, and the first that knows the credential decides:
 *
 *     front proxy ──► client certificate ──► bearer token (header, then WebSocket subprotocol) ──► anonymous
 *
 * 1. An invalid credential is refused: the request does not become anonymous.
 * 2. Components in this process have an identity, and no credentials.
 * 3. The reason of a refusal is logged, and not sent to the client.
 */
import { unauthorized } from "#api";
import type { Logger, Maybe } from "#base";
import type { ApiRequest } from "../http/exchange.ts";
import { ANONYMOUS, type UserInfo, withAuthenticated } from "../identity/user.ts";
import { authorizationToken, type Presented, websocketToken } from "./bearer.ts";
import type { AuthenticationMetrics } from "./metrics.ts";
import {
  errorText,
  isKnown,
  type RequestAuthenticator,
  refused,
  type TokenAuthenticator,
  type Verdict,
} from "./verdict.ts";

/**
 * Throws Unauthorized, or rejects with it, for an invalid credential. Synchronous where the connection identifies the
 * user.
 */
export type Authenticator = (request: ApiRequest, remarks?: Remarks) => Maybe<UserInfo>;

/** What a credential adds to the request besides its user. */
export interface Remarks {
  /** For the client. */
  warn(message: string): void;
  /** For the audit log. */
  annotate(key: string, value: string): void;
}

const UNHEARD: Remarks = { warn: () => {}, annotate: () => {} };

export interface AuthenticatorOptions {
  readonly frontProxy?: RequestAuthenticator | undefined;
  readonly certificates?: RequestAuthenticator | undefined;
  readonly tokens?: TokenAuthenticator | undefined;
  /** The audiences of accepted tokens. */
  readonly audiences?: readonly string[];
  /** Called for each request: the configuration may change. */
  readonly anonymous?: () => AnonymousPolicy;
  readonly log?: Logger;
  /** Absent: nothing is measured. */
  readonly metrics?: AuthenticationMetrics | undefined;
}

export interface AnonymousPolicy {
  readonly enabled: boolean;
  /** Only these paths; empty: every path. */
  readonly paths?: readonly string[];
}

export const INVALID_TOKEN = "invalid bearer token";

export function authenticator(options: AuthenticatorOptions): Authenticator {
  const { frontProxy, certificates, tokens, audiences = [], anonymous = () => ({ enabled: true }), log } = options;
  const { metrics } = options;

  const byConnection = [frontProxy, certificates].filter((way) => way !== undefined);

  const byToken = async (presented: Presented, remarks: Remarks): Promise<Verdict> => {
    if (presented === undefined || tokens === undefined) return undefined;
    if ("warning" in presented) return void remarks.warn(presented.warning);
    if ("error" in presented) return refused(presented.error);
    const verdict = await tokens(presented.token, audiences);
    if (!isKnown(verdict)) return verdict ?? refused(INVALID_TOKEN);
    for (const warning of verdict.warnings ?? []) remarks.warn(warning);
    for (const [key, value] of Object.entries(verdict.annotations ?? {})) remarks.annotate(key, value);
    return verdict;
  };

  const known = (user: UserInfo, startMs: number): UserInfo => {
    metrics?.attempted("success", startMs, user.name);
    return user;
  };

  const byRequest = async (
    request: ApiRequest,
    remarks: Remarks,
    before: readonly string[],
    startMs: number,
  ): Promise<UserInfo> => {
    const errors = [...before];
    for (const find of [authorizationToken, websocketToken]) {
      const verdict = await byToken(find(request), remarks);
      if (isKnown(verdict)) return known(withAuthenticated(verdict.user), startMs);
      if (verdict !== undefined) errors.push(...verdict.refused);
    }
    if (errors.length === 0 && mayBeAnonymous(anonymous(), request.path)) return known(ANONYMOUS, startMs);
    metrics?.attempted(errors.length > 0 ? "error" : "failure", startMs);
    if (errors.length > 0) {
      log?.warn("a request could not be authenticated", { path: request.path, because: errorText(errors) });
    }
    throw unauthorized();
  };

  return (request, remarks = UNHEARD) => {
    const startMs = metrics?.now() ?? 0;
    if (request.user !== undefined) return known(withAuthenticated(request.user), startMs);
    const errors: string[] = [];
    for (const ask of byConnection) {
      const verdict = ask(request);
      if (isKnown(verdict)) return known(withAuthenticated(verdict.user), startMs);
      if (verdict !== undefined) errors.push(...verdict.refused);
    }
    return byRequest(request, remarks, errors, startMs);
  };
}

function mayBeAnonymous({ enabled, paths = [] }: AnonymousPolicy, path: string): boolean {
  return enabled && (paths.length === 0 || paths.includes(path));
}
