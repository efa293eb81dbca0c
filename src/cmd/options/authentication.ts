/** The flags of authentication, named and meant as kube-apiserver's. */
import { InvalidArgumentError, Option } from "commander";
import type { AuthenticationFlags } from "#cluster";
import { milliseconds } from "./values.ts";

export interface AuthenticationOptions {
  readonly tokenAuthFile?: string;
  readonly clientCaFile?: string;
  readonly serviceAccountIssuer?: readonly string[];
  readonly serviceAccountKeyFile?: readonly string[];
  readonly serviceAccountSigningKeyFile?: string;
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

/** May be given more than once. */
const each = (flags: string, description: string) =>
  new Option(flags, description).argParser((value: string, before: readonly string[] = []) => [...before, value]);
/** Separated by commas, and may be given more than once. */
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
    new Option("--token-auth-file <csv>", "static bearer tokens"),
    new Option("--client-ca-file <file>", "more authorities of client certificates; read again when it changes"),
    toggle("--anonymous-auth", "whether requests without a credential pass as system:anonymous; default: true"),
    toggle("--enable-bootstrap-token-auth", "whether bootstrap tokens in kube-system count; default: true"),
    each("--service-account-issuer <url>", "who gives out service account tokens; the first signs, all are accepted"),
    each(
      "--service-account-key-file <file>",
      "keys that service account tokens are verified with, besides the signing one",
    ),
    new Option(
      "--service-account-signing-key-file <file>",
      "key that signs service account tokens, instead of the cluster's own",
    ),
    new Option(
      "--service-account-max-token-expiration <duration>",
      "the longest that a service account token lasts",
    ).argParser(milliseconds),
    toggle("--service-account-extend-token-expiration", "whether tokens of pods last for a year; default: true"),
    new Option("--service-account-jwks-uri <url>", "where verifiers find the keys of service account tokens"),
    list("--api-audiences <names>", "for whom tokens have to be meant; default: the service account issuers"),
    new Option("--authentication-config <file>", "an AuthenticationConfiguration; read again when it changes"),
    new Option("--oidc-issuer-url <url>", "OpenID Connect provider"),
    new Option("--oidc-client-id <id>", "for whom its tokens have to be meant"),
    new Option("--oidc-username-claim <claim>", "claim that names the user; default: sub"),
    new Option("--oidc-username-prefix <prefix>", "put before user names; - for none"),
    new Option("--oidc-groups-claim <claim>", "claim that names the groups"),
    new Option("--oidc-groups-prefix <prefix>", "put before groups"),
    new Option(
      "--oidc-required-claim <claim=value>",
      "claim that tokens must have; may be given more than once",
    ).argParser(requiredClaim),
    list("--oidc-signing-algs <names>", "algorithms that tokens may be signed with; default: RS256"),
    new Option("--oidc-ca-file <file>", "authority of the provider's certificate"),
    new Option("--authentication-token-webhook-config-file <file>", "kubeconfig of a server that knows tokens"),
    new Option(
      "--authentication-token-webhook-version <version>",
      "version of TokenReview for it; default: v1",
    ).choices(["v1", "v1beta1"]),
    new Option(
      "--authentication-token-webhook-cache-ttl <duration>",
      "how long its answers are kept; default: 2m",
    ).argParser(milliseconds),
    new Option("--requestheader-client-ca-file <file>", "authority of proxies that say in headers who their users are"),
    list("--requestheader-allowed-names <names>", "common names of such proxies"),
    list("--requestheader-username-headers <names>", "headers that name the user; default: X-Remote-User"),
    list("--requestheader-uid-headers <names>", "headers that name the user's uid; default: X-Remote-Uid"),
    list("--requestheader-group-headers <names>", "headers that name groups; default: X-Remote-Group"),
    list("--requestheader-extra-headers-prefix <names>", "beginnings of headers with more; default: X-Remote-Extra-"),
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
