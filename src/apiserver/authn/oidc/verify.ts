/**
 * Verification of an ID token: audience, times, algorithm, signature by a key of its provider. The order and the words
 * are those of the library that Kubernetes uses.
 */
import { goQuote, type JsonObject } from "#api";
import { audiencesOf, checkSignature, LEEWAY_SECONDS, type Peeked } from "../jwt.ts";
import type { Provider } from "./provider.ts";

export interface Verification {
  readonly provider: Provider;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly nowMs: number;
}

/** `unready`: the provider has not been reached yet, so its keys are not known. */
export type Verified = "good" | "unready" | { readonly fault: string };

export async function verifyIdToken(token: string, peeked: Peeked, verification: Verification): Promise<Verified> {
  const { provider, audiences, algorithms, nowMs } = verification;
  const { header, claims } = peeked;
  const fault = claimsFault(claims, audiences, nowMs);
  if (fault !== undefined) return { fault };
  const { alg, kid } = header;
  if (typeof alg !== "string" || !algorithms.includes(alg)) {
    const got = goQuote(String(alg ?? ""));
    return { fault: `oidc: id token signed with unsupported algorithm, expected ${goList(algorithms)} got ${got}` };
  }
  if (await isSigned(token, typeof kid === "string" ? kid : "", verification)) return "good";
  if (!provider.ready) return "unready";
  return { fault: "failed to verify signature: failed to verify id token signature" };
}

async function isSigned(token: string, kid: string, { provider, algorithms }: Verification): Promise<boolean> {
  for (const keys of [() => provider.keysFor(kid), () => provider.changedKeysFor(kid)]) {
    for (const key of await keys()) if ((await checkSignature(token, key, algorithms)) === "good") return true;
  }
  return false;
}

function claimsFault(claims: JsonObject, audiences: readonly string[], nowMs: number): string | undefined {
  const { exp, nbf } = claims;
  const named = audiencesOf(claims);
  if (!audiences.some((audience) => named.includes(audience))) {
    const [only = ""] = audiences;
    const expected = audiences.length === 1 ? goQuote(only) : `in ${goList(audiences)}`;
    return `oidc: expected audience ${expected} got ${goList(named)}`;
  }
  if (typeof exp !== "number" || exp * 1000 < nowMs) {
    return `oidc: token is expired (Token Expiry: ${goTime(typeof exp === "number" ? exp * 1000 : 0)})`;
  }
  if (typeof nbf === "number" && nowMs + LEEWAY_SECONDS * 1000 < nbf * 1000) {
    return `oidc: current time ${goTime(nowMs)} before the nbf (not before) time: ${goTime(nbf * 1000)}`;
  }
  return undefined;
}

function goList(values: readonly string[]): string {
  return `[${values.map(goQuote).join(" ")}]`;
}

/** A number that is not a valid time is shown as it is. */
function goTime(ms: number): string {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return String(ms / 1000);
  return `${time.toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`;
}
