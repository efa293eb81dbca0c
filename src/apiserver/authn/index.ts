/** The public surface of authentication. */

export type { UserInfo } from "../identity/user.ts";
export {
  type Authentication,
  type AuthenticationOptions,
  authentication,
  type RequestHeaderOptions,
} from "./authentication.ts";
export { type Authenticator, authenticator, INVALID_TOKEN } from "./authenticator.ts";
export { ConfigurationError } from "./configuration-error.ts";
export { type FrontProxyHeaders, STANDARD_HEADERS } from "./front-proxy.ts";
export type { ClusterObjects, Plural } from "./objects.ts";
export { type AuthenticationConfiguration, parseAuthenticationConfiguration } from "./oidc/configuration.ts";
export { authenticatorOfFlags, type OidcFlags } from "./oidc/flags.ts";
export { SIGNING_ALGORITHMS } from "./oidc/tokens.ts";
export { openExternalSigner } from "./service-account/external/open.ts";
export type { ExternalSigner } from "./service-account/external/signer.ts";
export { type TokenIssuer, tokenSigner } from "./service-account/issuer.ts";
export { KeyFileError } from "./service-account/keys.ts";
export {
  type AuthenticationSettings,
  DEFAULT_ISSUER,
  type JwtSettings,
  type PemFile,
  type ServiceAccountSettings,
  type WebhookSettings,
} from "./settings.ts";
export { parseTokenFile, staticTokens, TokenFileError } from "./token-file.ts";
export { errorText, isKnown, type TokenAuthenticator, type Verdict } from "./verdict.ts";
export type { WebhookConnection } from "./webhook/tokens.ts";
