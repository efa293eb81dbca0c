/**
 * A detached JSON Web Signature (RFC 7515): header and signature without the payload.
 *
 * A joining node, which has only a token, verifies with it that cluster-info is from its cluster.
 */
import { createHmac } from "node:crypto";
import type { SigningToken } from "./token.ts";

export function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const payload = Buffer.from(content).toString("base64url");
  const signature = createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url");
  return `${header}..${signature}`;
}
