/** Reads bootstrap tokens from their Secrets: `bootstrap-token-ID` in kube-system. */
import { type core, parseTime, toMs } from "#api";

export const TOKEN_NAMESPACE = "kube-system";
export const TOKEN_TYPE = "bootstrap.kubernetes.io/token";
const NAME_PREFIX = "bootstrap-token-";

export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

export function isToken({ metadata, type }: core.Secret): boolean {
  return type === TOKEN_TYPE && metadata?.namespace === TOKEN_NAMESPACE;
}

/** When the token expires; infinite without an expiration. An unreadable time counts as expired. */
export function expiryOf(secret: core.Secret): number {
  const expiration = dataOf(secret, "expiration");
  if (expiration === "") return Number.POSITIVE_INFINITY;
  try {
    return toMs(parseTime(expiration));
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

/** Undefined if it is not enabled for signing, or expired. */
export function signingToken(token: core.Secret, now: number): SigningToken | undefined {
  const [id, secret] = [dataOf(token, "token-id"), dataOf(token, "token-secret")];
  if (id === "" || secret === "" || token.metadata?.name !== NAME_PREFIX + id) return undefined;
  if (dataOf(token, "usage-bootstrap-signing") !== "true" || expiryOf(token) <= now) return undefined;
  return { id, secret };
}

function dataOf({ data }: core.Secret, key: string): string {
  return Buffer.from(data?.[key] ?? "", "base64").toString("utf8");
}
