/** The part of oidc-provider that tests use: it ships no types. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";
  import type { JWK } from "jose";

  export interface ProviderConfiguration {
    readonly clients: readonly object[];
    readonly jwks: { readonly keys: readonly JWK[] };
    readonly features: object;
    readonly routes?: object;
    readonly extraTokenClaims?: () => object;
    readonly ttl?: object;
  }

  export default class Provider {
    constructor(issuer: string, configuration: ProviderConfiguration);
    callback(): RequestListener;
  }
}
