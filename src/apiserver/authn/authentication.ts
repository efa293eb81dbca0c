/**
 * The composition of authentication from its settings.
 *
 *     request ──► front proxy ──► certificate ──► token ──────────────────────────────────────────────► anonymous
 *                                                   └► static ► service account ► bootstrap ► OIDC ► webhook
 */
import type { core, JsonObject } from "#api";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import type { Egress } from "../egress/index.ts";
import { type AnonymousPolicy, type Authenticator, authenticator } from "./authenticator.ts";
import { bootstrapTokens } from "./bootstrap-token.ts";
import { CertificateAuthorities, clientCertificates } from "./certificates.ts";
import { credentialHeaders, type FrontProxyHeaders, frontProxy } from "./front-proxy.ts";
import { authenticationMetrics } from "./metrics.ts";
import type { ClusterObjects } from "./objects.ts";
import { celExpressions } from "./oidc/cel-expressions.ts";
import type { AuthenticationConfiguration } from "./oidc/configuration.ts";
import { OidcIssuers } from "./oidc/issuers.ts";
import { SIGNING_ALGORITHMS } from "./oidc/tokens.ts";
import type { ExternalSigner } from "./service-account/external/signer.ts";
import { type IssuerDocuments, issuerDocuments, type TokenIssuer, tokenIssuer } from "./service-account/issuer.ts";
import { distinctKeys, signingKey, temporaryKey, verificationKeys } from "./service-account/keys.ts";
import { LEGACY_ISSUER, legacyTokenJudge } from "./service-account/legacy-tokens.ts";
import { accountTokenJudge, type Judge, signedTokens } from "./service-account/tokens.ts";
import { type AuthenticationSettings, DEFAULT_ISSUER, type ServiceAccountSettings } from "./settings.ts";
import { cached } from "./token-cache.ts";
import { staticTokens } from "./token-file.ts";
import { firstOf, forApi, type TokenAuthenticator } from "./verdict.ts";
import { webhookTokens } from "./webhook/tokens.ts";

export interface AuthenticationOptions {
  readonly settings: AuthenticationSettings;
  /** PEM: the authorities of client certificates. */
  readonly clientCa: string;
  readonly requestHeader?: RequestHeaderOptions | undefined;
  readonly objects: ClusterObjects;
  /** Records the day of the last use in the Secret of a token. */
  noteUse(secret: core.Secret, day: string): Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How webhooks are reached. Absent: directly. */
  readonly egress?: Egress | undefined;
  /** Absent: nothing is measured. */
  readonly metrics?: MetricsRegistry | undefined;
}

/** The authority of front proxies, and their names. */
export interface RequestHeaderOptions {
  readonly ca: string;
  readonly allowedNames: readonly string[];
  readonly headers?: FrontProxyHeaders;
}

export interface Authentication {
  readonly authenticate: Authenticator;
  readonly authenticateToken: TokenAuthenticator;
  /** Headers that are removed after authentication. */
  isCredential(header: string): boolean;
  /** The audiences of accepted tokens. */
  readonly audiences: readonly string[];
  readonly issuer: TokenIssuer;
  /** `server`: the URL of this server. */
  documents(server: string): IssuerDocuments;
  /** Replaces the authorities of client certificates. */
  replaceClientCa(pem: string): void;
  /** Throws ConfigurationError, and changes nothing, if the configuration is invalid. */
  configure(configuration: AuthenticationConfiguration, file: string): void;
  close(): Promise<void>;
}

export function authentication(options: AuthenticationOptions): Authentication {
  const { settings, requestHeader, objects, clock, random, log, egress } = options;
  const accounts = serviceAccounts(settings.serviceAccounts ?? {});
  const { audiences, issuers, keys, signer } = accounts;
  const ofAccount = accountTokenJudge({ objects, clock });
  const judges = new Map<string, Judge>([
    [LEGACY_ISSUER, legacyTokenJudge({ objects, clock, noteUse: options.noteUse, log, lookUp: accounts.lookUp })],
    ...issuers.map((issuer) => [issuer, ofAccount] as const),
  ]);
  const clientCa = new CertificateAuthorities(options.clientCa, clock);
  const metrics = options.metrics && authenticationMetrics(options.metrics, clock);
  const oidc = new OidcIssuers({
    algorithms: settings.jwt?.algorithms ?? SIGNING_ALGORITHMS,
    disallowedIssuers: issuers,
    compiler: celExpressions(),
    egress,
    clock,
    log,
    metrics,
  });
  let anonymous = anonymousPolicy(settings, undefined);
  const configure: Authentication["configure"] = (configuration, file) => {
    oidc.replace(configuration, file);
    anonymous = anonymousPolicy(settings, configuration);
  };
  if (settings.jwt !== undefined) configure(settings.jwt.configuration, settings.jwt.file);
  const dial = egress?.controlplane;
  const webhook = settings.webhook && webhookTokens({ ...settings.webhook, audiences, clock, random, log, dial });
  const keptMs = settings.webhook?.cacheTtlMs ?? 0;
  const ttl = { clock, successMs: keptMs, failureMs: keptMs, metrics: metrics?.tokenCache };

  const tokens = firstOf([
    ...(settings.tokens === undefined ? [] : [forApi(audiences, staticTokens(settings.tokens))]),
    signedTokens({ audiences, keys, ...(signer !== undefined && followed(signer)) }, judges),
    ...(settings.bootstrapTokens === true ? [forApi(audiences, bootstrapTokens({ objects, clock }))] : []),
    forApi(audiences, oidc.authenticate),
    ...(webhook === undefined ? [] : [cached(webhook.authenticate, ttl)]),
  ]);

  return {
    authenticate: authenticator({
      ...(requestHeader !== undefined && {
        frontProxy: frontProxy({
          ...requestHeader,
          certificates: new CertificateAuthorities(requestHeader.ca, clock),
        }),
      }),
      certificates: clientCertificates(clientCa),
      tokens,
      audiences,
      anonymous: () => anonymous,
      log,
      metrics,
    }),
    authenticateToken: tokens,
    isCredential: credentialHeaders(requestHeader?.headers),
    audiences,
    issuer: accounts.issuer,
    documents: (server) =>
      issuerDocuments(accounts.issuer.issuer, accounts.jwksUri ?? `${server}/openid/v1/jwks`, signer?.keys ?? keys),
    replaceClientCa: (pem) => clientCa.replace(pem),
    configure,
    close: async () => {
      webhook?.close();
      await oidc.close();
    },
  };
}

function serviceAccounts(settings: ServiceAccountSettings) {
  const { issuers = [DEFAULT_ISSUER], audiences = issuers, maxExpirationSeconds, extendExpiration = true } = settings;
  const { signingKey: own, keys: others = [], jwksUri } = settings;
  const { signer, lookUp } = settings;
  const [issuer = DEFAULT_ISSUER] = issuers;
  const shared = { issuers, audiences, jwksUri, lookUp, signer };
  if (signer !== undefined) {
    const { maxExpirationSeconds: maxExtendedSeconds } = signer;
    const sign = (claims: JsonObject) => signer.sign(claims);
    return {
      ...shared,
      keys: [],
      issuer: { issuer, audiences, maxExpirationSeconds, maxExtendedSeconds, extendExpiration, sign },
    };
  }
  const signing = own === undefined ? temporaryKey() : signingKey(own.pem, own.file);
  return {
    ...shared,
    keys: distinctKeys([signing, ...others.flatMap(({ pem, file }) => verificationKeys(pem, file))]),
    issuer: tokenIssuer(signing, { issuer, audiences, maxExpirationSeconds, extendExpiration }),
  };
}

function followed(signer: ExternalSigner) {
  return { keysFor: (id: string) => signer.keysFor(id), generation: () => signer.generation };
}

function anonymousPolicy(
  { anonymous: enabled = true }: AuthenticationSettings,
  configuration: AuthenticationConfiguration | undefined,
): AnonymousPolicy {
  const said = configuration?.anonymous;
  if (said === undefined) return { enabled };
  return { enabled: said.enabled, paths: said.conditions.map(({ path }) => path) };
}
