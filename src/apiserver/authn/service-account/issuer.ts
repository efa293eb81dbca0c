/** The side that gives tokens out: signs them, and tells others by which keys they can be verified. */
import type { JsonObject } from "#api";
import { signJwt } from "../jwt.ts";
import { type SigningKey, signingKey, type VerificationKey } from "./keys.ts";

export interface TokenIssuer {
  readonly issuer: string;
  /** For whom tokens are meant that do not say so. */
  readonly audiences: readonly string[];
  /** Longer than this no token is given. */
  readonly maxExpirationSeconds?: number | undefined;
  /** Whether pods' own tokens last for a year, so that clients which never read them again go on working. */
  readonly extendExpiration: boolean;
  /** The claims as a signed JWT. */
  sign(claims: JsonObject): Promise<string>;
}

export function tokenIssuer(key: SigningKey, options: Omit<TokenIssuer, "sign">): TokenIssuer {
  const header = { alg: key.algorithm, kid: key.id };
  return { ...options, sign: (claims) => signJwt(claims, header, key.privateKey) };
}

/** For those who have the key and are not the server: they sign what the server verifies. Throws KeyFileError. */
export function tokenSigner(pem: string, file: string): TokenIssuer["sign"] {
  const key = signingKey(pem, file);
  return (claims) => signJwt(claims, { alg: key.algorithm, kid: key.id }, key.privateKey);
}

/** Documents for verifiers outside: discovery, as OpenID Connect has it, and the keys. */
export interface IssuerDocuments {
  readonly configuration: JsonObject;
  readonly keySet: JsonObject;
}

export function issuerDocuments(issuer: string, jwksUri: string, keys: readonly VerificationKey[]): IssuerDocuments {
  return {
    configuration: {
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
    },
    keySet: {
      keys: keys.map(({ id, algorithm, key }) => ({
        use: "sig",
        kid: id,
        alg: algorithm,
        ...(key.export({ format: "jwk" }) as JsonObject),
      })),
    },
  };
}
