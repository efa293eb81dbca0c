/** The settings of authentication. Files have been read already. */

import type { UserInfo } from "../identity/user.ts";
import type { AuthenticationConfiguration } from "./oidc/configuration.ts";
import type { ExternalSigner } from "./service-account/external/signer.ts";
import type { WebhookConnection } from "./webhook/tokens.ts";

export interface AuthenticationSettings {
  /** Static bearer tokens and their users. */
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  readonly serviceAccounts?: ServiceAccountSettings;
  /** Whether Secrets in kube-system may be bootstrap tokens. */
  readonly bootstrapTokens?: boolean;
  readonly jwt?: JwtSettings;
  readonly webhook?: WebhookSettings;
  /** Whether anonymous requests are allowed, unless the configuration of `jwt` has a rule. Default: yes. */
  readonly anonymous?: boolean;
}

export interface ServiceAccountSettings {
  /** The first is written into tokens, all are accepted. */
  readonly issuers?: readonly string[];
  /** The audiences of accepted tokens. Default: the issuers. */
  readonly audiences?: readonly string[];
  /** Signs in place of a key of the server. Its keys are then the only ones that verify. */
  readonly signer?: ExternalSigner;
  /** Whether the Secret and the ServiceAccount of a token in a Secret have to exist. Default: yes. */
  readonly lookUp?: boolean;
  /** Default: a key for the life of the process. */
  readonly signingKey?: PemFile;
  /** Verify tokens, besides the signing key. */
  readonly keys?: readonly PemFile[];
  readonly maxExpirationSeconds?: number;
  /** Default: yes. */
  readonly extendExpiration?: boolean;
  /** Where external verifiers find the keys. Default: at this server. */
  readonly jwksUri?: string;
}

export interface PemFile {
  readonly file: string;
  readonly pem: string;
}

export interface JwtSettings {
  readonly configuration: AuthenticationConfiguration;
  /** The name of the file, for messages. */
  readonly file: string;
  /** Algorithms of accepted signatures. */
  readonly algorithms: readonly string[];
}

export interface WebhookSettings {
  readonly connection: WebhookConnection;
  readonly version: "v1" | "v1beta1";
  readonly cacheTtlMs: number;
}

export const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";
