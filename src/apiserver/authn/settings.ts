/** What authentication is made from. Files have been read already: these are values. */

import type { UserInfo } from "../identity/user.ts";
import type { AuthenticationConfiguration } from "./oidc/configuration.ts";
import type { WebhookConnection } from "./webhook/tokens.ts";

export interface AuthenticationSettings {
  /** Static bearer tokens and whom they stand for. */
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  readonly serviceAccounts?: ServiceAccountSettings;
  /** Whether Secrets in kube-system may be tokens of nodes that join. */
  readonly bootstrapTokens?: boolean;
  readonly jwt?: JwtSettings;
  readonly webhook?: WebhookSettings;
  /** Whether one may come without a credential, unless the configuration of `jwt` says something about that. Default: yes. */
  readonly anonymous?: boolean;
}

export interface ServiceAccountSettings {
  /** The first is written into tokens, all are accepted. */
  readonly issuers?: readonly string[];
  /** For whom tokens have to be meant. Default: the issuers. */
  readonly audiences?: readonly string[];
  /** Default: a key that lives as long as the process. */
  readonly signingKey?: PemFile;
  /** With these, besides the signing key, tokens are verified. */
  readonly keys?: readonly PemFile[];
  readonly maxExpirationSeconds?: number;
  /** Default: yes. */
  readonly extendExpiration?: boolean;
  /** Where verifiers outside find the keys. Default: at this server. */
  readonly jwksUri?: string;
}

export interface PemFile {
  readonly file: string;
  readonly pem: string;
}

export interface JwtSettings {
  readonly configuration: AuthenticationConfiguration;
  /** Where it came from, for messages. */
  readonly file: string;
  /** What tokens may be signed with. */
  readonly algorithms: readonly string[];
}

export interface WebhookSettings {
  readonly connection: WebhookConnection;
  readonly version: "v1" | "v1beta1";
  readonly cacheTtlMs: number;
}

export const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";
