/** Authentication flags, with kube-apiserver's names and meanings. */
import { InvalidArgumentError, Option } from "commander";
import type { AuthenticationFlags } from "#cluster";
import { milliseconds } from "../values.ts";

export interface AuthenticationOptions {
  readonly tokenAuthFile?: string;
  readonly clientCaFile?: string;
  readonly serviceAccountIssuer?: readonly string[];
  readonly serviceAccountKeyFile?: readonly string[];
  readonly serviceAccountSigningKeyFile?: string;
  readonly serviceAccountSigningEndpoint?: string;
  readonly serviceAccountLookup?: boolean;
  readonly serviceAccountMaxTokenExpiration?: number;
  readonly serviceAccountExtendTokenExpiration?: boolean;
  readonly serviceAccountJwksUri?: string;
  readonly apiAudiences?: readonly string[];
  readonly enableBootstrapTokenAuth?: boolean;
  readonly anonymousAuth?: boolean;
  readonly authenticationConfig?: string;
  readonly oidcIssuerUrl?: string;
  readonly oidcClientId?: string;
  readonly oidcUsernameClaim?: string;
  readonly oidcUsernamePrefix?: string;
  readonly oidcGroupsClaim?: string;
  readonly oidcGroupsPrefix?: string;
  readonly oidcRequiredClaim?: Readonly<Record<string, string>>;
  readonly oidcSigningAlgs?: readonly string[];
  readonly oidcCaFile?: string;
  readonly authenticationTokenWebhookConfigFile?: string;
  readonly authenticationTokenWebhookVersion?: "v1" | "v1beta1";
  readonly authenticationTokenWebhookCacheTtl?: number;
  readonly requestheaderClientCaFile?: string;
  readonly requestheaderAllowedNames?: readonly string[];
  readonly requestheaderUsernameHeaders?: readonly string[];
  readonly requestheaderUidHeaders?: readonly string[];
  readonly requestheaderGroupHeaders?: readonly string[];
  readonly requestheaderExtraHeadersPrefix?: readonly string[];
}

/** Repeatable. */
const each = (flags: string, description: string) =>
  new Option(flags, description).argParser((value: string, before: readonly string[] = []) => [...before, value]);
/** Comma-separated, and repeatable. */
const list = (flags: string, description: string) =>
  new Option(flags, description).argParser((value: string, before: readonly string[] = []) => [
    ...before,
    ...value.split(",").map((part) => part.trim()),
  ]);
/** `--flag`, `--flag=true` or `--flag=false`. */
const toggle = (name: string, description: string) =>
  new Option(`${name} [bool]`, description).preset("true").argParser((value: string) => {
    if (value !== "true" && value !== "false") throw new InvalidArgumentError("It must be true or false.");
    return value === "true";
  });

export function authenticationOptions(): readonly Option[] {
  return [
    new Option("--token-auth-file <csv>", "file of static bearer tokens"),
    new Option("--client-ca-file <file>", "additional CAs for client certificates; reloaded when the file changes"),
    toggle("--anonymous-auth", "accept requests without credentials as system:anonymous; default: true"),
    toggle("--enable-bootstrap-token-auth", "accept bootstrap tokens from Secrets in kube-system; default: true"),
    each(
      "--service-account-issuer <url>",
      "issuer of service account tokens; repeatable: the first one signs, all are accepted",
    ),
    each("--service-account-key-file <file>", "additional keys for verifying service account tokens"),
    new Option(
      "--service-account-signing-key-file <file>",
      "key for signing service account tokens (default: the cluster's own)",
    ),
    new Option(
      "--service-account-signing-endpoint <socket>",
      "socket of an external signer of service account tokens, in place of keys",
    ),
    toggle(
      "--service-account-lookup",
      "tokens in Secrets are valid only as long as their Secret and ServiceAccount exist; default: true",
    ),
    new Option(
      "--service-account-max-token-expiration <duration>",
      "maximum lifetime of service account tokens",
    ).argParser(milliseconds),
    toggle(
      "--service-account-extend-token-expiration",
      "extend the lifetime of Pods' tokens to one year; default: true",
    ),
    new Option("--service-account-jwks-uri <url>", "URL of the JSON Web Key Set for verifying service account tokens"),
    list("--api-audiences <names>", "accepted token audiences; default: the service account issuers"),
    new Option("--authentication-config <file>", "AuthenticationConfiguration; reloaded when the file changes"),
    new Option("--oidc-issuer-url <url>", "URL of the OpenID Connect issuer"),
    new Option("--oidc-client-id <id>", "OpenID Connect client ID: required audience of tokens"),
    new Option("--oidc-username-claim <claim>", "claim with the user name; default: sub"),
    new Option("--oidc-username-prefix <prefix>", "prefix for user names; - for none"),
    new Option("--oidc-groups-claim <claim>", "claim with the groups"),
    new Option("--oidc-groups-prefix <prefix>", "prefix for groups"),
    new Option("--oidc-required-claim <claim=value>", "claim that tokens must have; repeatable").argParser(
      requiredClaim,
    ),
    list("--oidc-signing-algs <names>", "accepted signing algorithms; default: RS256"),
    new Option("--oidc-ca-file <file>", "CA of the issuer's certificate"),
    new Option("--authentication-token-webhook-config-file <file>", "kubeconfig of the token authentication webhook"),
    new Option(
      "--authentication-token-webhook-version <version>",
      "TokenReview version for the webhook; default: v1",
    ).choices(["v1", "v1beta1"]),
    new Option(
      "--authentication-token-webhook-cache-ttl <duration>",
      "how long the webhook's answers are cached; default: 2m",
    ).argParser(milliseconds),
    new Option("--requestheader-client-ca-file <file>", "CA of authenticating proxies, which pass the user in headers"),
    list("--requestheader-allowed-names <names>", "common names of authenticating proxies"),
    list("--requestheader-username-headers <names>", "headers with the user name; default: X-Remote-User"),
    list("--requestheader-uid-headers <names>", "headers with the user's UID; default: X-Remote-Uid"),
    list("--requestheader-group-headers <names>", "headers with groups; default: X-Remote-Group"),
    list(
      "--requestheader-extra-headers-prefix <names>",
      "prefixes of headers with extra user information; default: X-Remote-Extra-",
    ),
  ];
}

export function authenticationFrom(options: AuthenticationOptions): AuthenticationFlags {
  const oidc = given({
    issuerUrl: options.oidcIssuerUrl,
    clientId: options.oidcClientId,
    usernameClaim: options.oidcUsernameClaim,
    usernamePrefix: options.oidcUsernamePrefix,
    groupsClaim: options.oidcGroupsClaim,
    groupsPrefix: options.oidcGroupsPrefix,
    requiredClaims: options.oidcRequiredClaim,
    signingAlgs: options.oidcSigningAlgs,
    caFile: options.oidcCaFile,
  });
  return given({
    tokenAuthFile: options.tokenAuthFile,
    clientCaFile: options.clientCaFile,
    serviceAccountIssuer: options.serviceAccountIssuer,
    serviceAccountKeyFile: options.serviceAccountKeyFile,
    serviceAccountSigningKeyFile: options.serviceAccountSigningKeyFile,
    serviceAccountSigningEndpoint: options.serviceAccountSigningEndpoint,
    serviceAccountLookup: options.serviceAccountLookup,
    serviceAccountMaxTokenExpirationMs: options.serviceAccountMaxTokenExpiration,
    serviceAccountExtendTokenExpiration: options.serviceAccountExtendTokenExpiration,
    serviceAccountJwksUri: options.serviceAccountJwksUri,
    apiAudiences: options.apiAudiences,
    enableBootstrapTokenAuth: options.enableBootstrapTokenAuth,
    anonymousAuth: options.anonymousAuth,
    authenticationConfig: options.authenticationConfig,
    oidc: Object.keys(oidc).length === 0 ? undefined : oidc,
    authenticationTokenWebhookConfigFile: options.authenticationTokenWebhookConfigFile,
    authenticationTokenWebhookVersion: options.authenticationTokenWebhookVersion,
    authenticationTokenWebhookCacheTtlMs: options.authenticationTokenWebhookCacheTtl,
    requestHeader: given({
      clientCaFile: options.requestheaderClientCaFile,
      allowedNames: options.requestheaderAllowedNames,
      usernameHeaders: options.requestheaderUsernameHeaders,
      uidHeaders: options.requestheaderUidHeaders,
      groupHeaders: options.requestheaderGroupHeaders,
      extraHeadersPrefix: options.requestheaderExtraHeadersPrefix,
    }),
  });
}

type Given<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
}

function requiredClaim(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be claim=value.");
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}
