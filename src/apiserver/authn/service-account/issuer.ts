/** Issues service account tokens, and publishes the keys that verify them. */
import type { JsonObject } from "#api";
import { signJwt } from "../jwt.ts";
import { type SigningKey, signingKey, type VerificationKey } from "./keys.ts";

export interface TokenIssuer {
  readonly issuer: string;
  /** The audiences of tokens that are requested without any. */
  readonly audiences: readonly string[];
  /** The longest life of a token. */
  readonly maxExpirationSeconds?: number | undefined;
  /** The longest life of pods' tokens that are extended. Default: a year. */
  readonly maxExtendedSeconds?: number | undefined;
  /** Whether pods' tokens are valid for a year, for clients that never reload them. */
  readonly extendExpiration: boolean;
  /** The claims as a signed JWT. */
  sign(claims: JsonObject): Promise<string>;
}

export function tokenIssuer(key: SigningKey, options: Omit<TokenIssuer, "sign">): TokenIssuer {
  const header = { alg: key.algorithm, kid: key.id };
  return { ...options, sign: (claims) => signJwt(claims, header, key.privateKey) };
}

/** A signer outside of the server, with the server's key. Throws KeyFileError. */
export function tokenSigner(pem: string, file: string): TokenIssuer["sign"] {
  const key = signingKey(pem, file);
  return (claims) => signJwt(claims, { alg: key.algorithm, kid: key.id }, key.privateKey);
}

/** Documents for external verifiers: OpenID Connect discovery, and the keys. */
export interface IssuerDocuments {
  readonly configuration: JsonObject;
  readonly keySet: JsonObject;
}

export function issuerDocuments(issuer: string, jwksUri: string, keys: readonly VerificationKey[]): IssuerDocuments {
  const published = keys.filter(({ isUnpublished }) => isUnpublished !== true);
  return {
    configuration: {
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [...new Set(published.map(({ algorithm }) => algorithm))].sort(),
    },
    keySet: {
      keys: published.map(({ id, algorithm, key }) => ({
        use: "sig",
        kid: id,
        alg: algorithm,
        ...(key.export({ format: "jwk" }) as JsonObject),
      })),
    },
  };
}
