/**
 * JSON Web Tokens, as far as every kind of them is alike: three parts, a signature, times.
 *
 * 1. `peek` reads without believing: it tells whose business a token is, nothing more.
 * 2. Which algorithms a key takes follows from the key, never from the token: a public key is no secret to compute an HMAC with, and `none` is no signature.
 * 3. The library that checks signatures is loaded when the first token comes.
 */
import type { KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { isObject, type JsonObject } from "#api";

/** Larger than any token that fits into a header; what is longer is not looked at. */
export const MAX_TOKEN_CHARS = 64 * 1024;
/** Clocks differ: so much earlier and later counts as in time. */
export const LEEWAY_SECONDS = 60;

export interface Peeked {
  readonly header: JsonObject;
  /** Nobody has vouched for this. */
  readonly claims: JsonObject;
}

export function peek(token: string): Peeked | undefined {
  if (token.length > MAX_TOKEN_CHARS) return undefined;
  const parts = token.split(".");
  if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]*$/.test(part))) return undefined;
  const [header, claims] = parts.slice(0, 2).map(jsonOf);
  // Extensions change how a token is read, and JWTs have none: one that insists on some is none.
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
    // An algorithm that is not allowed, or a key that does not fit it.
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

/** `aud` is one or a list of them. */
export function audiencesOf({ aud }: JsonObject): readonly string[] {
  const list = Array.isArray(aud) ? aud : [aud];
  return list.filter((audience): audience is string => typeof audience === "string");
}
