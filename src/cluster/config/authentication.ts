/**
 * Authentication options from flags and the files that they name.
 *
 * 1. An error is one sentence that names the flag or the file.
 */
import {
  type AuthenticationConfiguration,
  type AuthenticationSettings,
  authenticatorOfFlags,
  ConfigurationError,
  type OidcFlags,
  type PemFile,
  parseAuthenticationConfiguration,
  parseTokenFile,
  type RequestHeaderOptions,
  type ServiceAccountSettings,
  SIGNING_ALGORITHMS,
  STANDARD_HEADERS,
  TokenFileError,
} from "#apiserver";
import { readKubeconfig } from "#pki";
import { ClusterError } from "./errors.ts";
import { joined, readFlag } from "./flag-files.ts";
import type { ServingPki } from "./serving-pki.ts";

export interface AuthenticationFlags {
  /** Static bearer tokens: `token,user,uid[,"groups"]`. */
  readonly tokenAuthFile?: string;
  /** CAs of client certificates, besides the cluster's own. */
  readonly clientCaFile?: string;
  readonly serviceAccountIssuer?: readonly string[];
  readonly serviceAccountKeyFile?: readonly string[];
  readonly serviceAccountSigningKeyFile?: string;
  /** The socket of a signer outside of the server. */
  readonly serviceAccountSigningEndpoint?: string;
  readonly serviceAccountLookup?: boolean;
  readonly serviceAccountMaxTokenExpirationMs?: number;
  readonly serviceAccountExtendTokenExpiration?: boolean;
  readonly serviceAccountJwksUri?: string;
  readonly apiAudiences?: readonly string[];
  /** Default: yes. */
  readonly enableBootstrapTokenAuth?: boolean;
  readonly anonymousAuth?: boolean;
  readonly authenticationConfig?: string;
  readonly oidc?: Partial<Omit<OidcFlags, "ca">> & { readonly caFile?: string };
  readonly authenticationTokenWebhookConfigFile?: string;
  readonly authenticationTokenWebhookVersion?: "v1" | "v1beta1";
  readonly authenticationTokenWebhookCacheTtlMs?: number;
  readonly requestHeader?: RequestHeaderFlags;
}

export interface RequestHeaderFlags {
  readonly clientCaFile?: string;
  readonly allowedNames?: readonly string[];
  readonly usernameHeaders?: readonly string[];
  readonly uidHeaders?: readonly string[];
  readonly groupHeaders?: readonly string[];
  readonly extraHeadersPrefix?: readonly string[];
}

const WEBHOOK_CACHE_MS = 2 * 60_000;
const HOUR_MS = 3_600_000;
const MAX_SECONDS = 2 ** 32;
/** The name of the cluster's own front proxy. */
const FRONT_PROXY = "front-proxy-client";

export async function readAuthentication(
  flags: AuthenticationFlags,
  /** The text of --authentication-config. */
  { configuration }: { readonly configuration: string | undefined },
  pki: Pick<ServingPki, "dir" | "serviceAccount">,
): Promise<AuthenticationSettings> {
  const [tokens, serviceAccounts, jwt, webhook] = await Promise.all([
    readTokens(flags),
    readServiceAccounts(flags, pki),
    readJwt(flags, configuration),
    readWebhook(flags),
  ]).catch((error: unknown) => {
    const isUserError = error instanceof ConfigurationError || error instanceof TokenFileError;
    throw isUserError ? new ClusterError(error.message, { cause: error }) : error;
  });
  return {
    ...tokens,
    serviceAccounts,
    bootstrapTokens: flags.enableBootstrapTokenAuth ?? true,
    ...(jwt !== undefined && { jwt }),
    ...webhook,
    ...(flags.anonymousAuth !== undefined && { anonymous: flags.anonymousAuth }),
  };
}

/** The cluster's own front proxy may always pass users in headers. */
export async function readRequestHeader(
  flags: AuthenticationFlags,
  pki: Pick<ServingPki, "frontProxyCa">,
): Promise<RequestHeaderOptions> {
  const { clientCaFile, allowedNames, usernameHeaders, uidHeaders, groupHeaders, extraHeadersPrefix } =
    flags.requestHeader ?? {};
  const own = pki.frontProxyCa.certPem;
  const ca =
    clientCaFile === undefined ? own : joined(own, await readFlag("--requestheader-client-ca-file", clientCaFile));
  return {
    ca,
    allowedNames: [...new Set([FRONT_PROXY, ...(allowedNames ?? [])])],
    headers: {
      username: usernameHeaders ?? STANDARD_HEADERS.username,
      uid: uidHeaders ?? STANDARD_HEADERS.uid,
      group: groupHeaders ?? STANDARD_HEADERS.group,
      extraPrefixes: extraHeadersPrefix ?? STANDARD_HEADERS.extraPrefixes,
    },
  };
}

/** Parses the file of --authentication-config, at the start and after changes. */
export function parseConfiguration(text: string, flags: AuthenticationFlags): AuthenticationConfiguration {
  const { authenticationConfig: file = "", anonymousAuth } = flags;
  const configuration = parseAuthenticationConfiguration(text, file);
  if (configuration.anonymous !== undefined && anonymousAuth !== undefined) {
    throw new ConfigurationError(
      "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file",
    );
  }
  return configuration;
}

async function readTokens({ tokenAuthFile }: AuthenticationFlags) {
  if (tokenAuthFile === undefined) return {};
  return { tokens: parseTokenFile(await readFlag("--token-auth-file", tokenAuthFile), tokenAuthFile) };
}

async function readServiceAccounts(
  flags: AuthenticationFlags,
  pki: Pick<ServingPki, "dir" | "serviceAccount">,
): Promise<ServiceAccountSettings> {
  const { serviceAccountIssuer: issuers, apiAudiences: audiences, serviceAccountMaxTokenExpirationMs: maxMs } = flags;
  const { serviceAccountExtendTokenExpiration: extendExpiration, serviceAccountJwksUri: jwksUri } = flags;
  checkIssuers(issuers ?? []);
  if (maxMs !== undefined && (maxMs < HOUR_MS || maxMs > MAX_SECONDS * 1000)) {
    throw new ClusterError("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
  }
  const own: PemFile = { file: `${pki.dir}/sa.key`, pem: pki.serviceAccount.keyPem };
  const signing = await pemFile("--service-account-signing-key-file", flags.serviceAccountSigningKeyFile);
  const others = await Promise.all(
    (flags.serviceAccountKeyFile ?? []).map((file) => pemFile("--service-account-key-file", file)),
  );
  return {
    ...(issuers !== undefined && { issuers }),
    ...(audiences !== undefined && { audiences }),
    signingKey: signing ?? own,
    // Tokens signed with the cluster's own key stay valid after another key is configured.
    keys: [...others.filter((file) => file !== undefined), ...(signing === undefined ? [] : [own])],
    ...(maxMs !== undefined && { maxExpirationSeconds: Math.floor(maxMs / 1000) }),
    ...(extendExpiration !== undefined && { extendExpiration }),
    ...(jwksUri !== undefined && { jwksUri }),
    ...(flags.serviceAccountLookup !== undefined && { lookUp: flags.serviceAccountLookup }),
  };
}

function checkIssuers(issuers: readonly string[]): void {
  for (const issuer of issuers) {
    if (issuer === "" || (issuer.includes(":") && !URL.canParse(issuer))) {
      throw new ClusterError(`--service-account-issuer: "${issuer}" contained a ':' but was not a valid URL`);
    }
  }
}

async function readJwt(flags: AuthenticationFlags, text: string | undefined) {
  const { authenticationConfig: file = "", oidc } = flags;
  if (text !== undefined && oidc !== undefined) {
    throw new ClusterError("authentication-config file and oidc-* flags are mutually exclusive");
  }
  if (text !== undefined) {
    return { configuration: parseConfiguration(text, flags), file, algorithms: SIGNING_ALGORITHMS };
  }
  if (oidc === undefined) return undefined;
  const { issuerUrl = "", clientId = "", caFile, signingAlgs = ["RS256"], ...rest } = oidc;
  for (const algorithm of signingAlgs) {
    if (!SIGNING_ALGORITHMS.includes(algorithm))
      throw new ClusterError(`oidc: unsupported signing alg: "${algorithm}"`);
  }
  const ca = caFile === undefined ? undefined : await readFlag("--oidc-ca-file", caFile);
  const jwt = authenticatorOfFlags({ ...rest, issuerUrl, clientId, ca });
  return { configuration: { jwt: [jwt] }, file: "--oidc-* flags", algorithms: signingAlgs };
}

async function readWebhook(flags: AuthenticationFlags) {
  const { authenticationTokenWebhookConfigFile: file, authenticationTokenWebhookVersion: version = "v1" } = flags;
  if (file === undefined) return {};
  const connection = await readKubeconfig(file);
  return {
    webhook: {
      connection,
      version,
      cacheTtlMs: flags.authenticationTokenWebhookCacheTtlMs ?? WEBHOOK_CACHE_MS,
    },
  };
}

async function pemFile(flag: string, file: string | undefined): Promise<PemFile | undefined> {
  return file === undefined ? undefined : { file, pem: await readFlag(flag, file) };
}
