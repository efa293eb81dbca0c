/**
 * What all JSON Web Tokens have in common: three parts, a signature, times.
 *
 * 1. `peek` reads without verifying: only to find the authenticator of a token.
 * 2. The key determines the algorithms, never the token: a public key is not an HMAC secret, and `none` is not a
 *    signature.
 * 3. The library that verifies signatures is loaded with the first token.
 */
import type { KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { isObject, type JsonObject } from "#api";

/** More than fits into a header. Longer tokens are ignored. */
export const MAX_TOKEN_CHARS = 64 * 1024;
/** The tolerated difference between clocks. */
export const LEEWAY_SECONDS = 60;

export interface Peeked {
  readonly header: JsonObject;
  /** Not verified. */
  readonly claims: JsonObject;
}

export function peek(token: string, maxChars = MAX_TOKEN_CHARS): Peeked | undefined {
  if (token.length > maxChars) return undefined;
  const parts = token.split(".");
  if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]*$/.test(part))) return undefined;
  const [header, claims] = parts.slice(0, 2).map(jsonOf);
  // `crit` names extensions that change how a token is read. There are none for JWTs: such a token is refused.
  if (header === undefined || claims === undefined || header.crit !== undefined) return undefined;
  return { header, claims };
}

function jsonOf(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isObject(value as JsonObject) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

export type Signature = "good" | "bad" | "unsupported" | "malformed";

/** Whether this key has signed the token, by one of these algorithms. */
export async function checkSignature(
  token: string,
  key: KeyObject | JWK,
  algorithms: readonly string[],
): Promise<Signature> {
  const { compactVerify, errors } = await import("jose");
  try {
    await compactVerify(token, key, { algorithms: [...algorithms] });
    return "good";
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return "bad";
    if (error instanceof errors.JWSInvalid) return "malformed";
    // The algorithm is not allowed, or does not match the key.
    if (error instanceof errors.JOSEError || error instanceof TypeError) return "unsupported";
    throw error;
  }
}

export async function signJwt(
  claims: JsonObject,
  header: { readonly alg: string; readonly kid: string },
  key: KeyObject,
): Promise<string> {
  const { CompactSign } = await import("jose");
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key);
}

export type InTime = "valid" | "expired" | "notYetValid" | "issuedInTheFuture" | "malformed";

export function inTime({ exp, nbf, iat }: JsonObject, nowSeconds: number): InTime {
  for (const time of [exp, nbf, iat]) if (time !== undefined && typeof time !== "number") return "malformed";
  if (typeof nbf === "number" && nowSeconds + LEEWAY_SECONDS < nbf) return "notYetValid";
  if (typeof exp === "number" && nowSeconds - LEEWAY_SECONDS > exp) return "expired";
  if (typeof iat === "number" && nowSeconds + LEEWAY_SECONDS < iat) return "issuedInTheFuture";
  return "valid";
}

/** `aud` is a string or a list. */
export function audiencesOf({ aud }: JsonObject): readonly string[] {
  const list = Array.isArray(aud) ? aud : [aud];
  return list.filter((audience): audience is string => typeof audience === "string");
}
