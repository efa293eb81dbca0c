/**
 * Tokens of service accounts: valid if signature, times and audiences are, and if the objects that they are bound to
 * exist.
 *
 *     token ──► issuer ──► signature (cached) ──► audience ──► times ──► account, pod, secret or node ──► user
 *
 * 1. Only the signature check is cached. Everything else is checked for each request, in the server's caches: a token
 *    ends with its pod.
 * 2. A deleted object counts for a minute more, because clocks differ and a terminating pod may still make requests.
 * 3. A token with an unknown kid matches no key; a token without one is tried with all keys.
 */
import { type JsonObject, type KubeObject, parseTime, toMs } from "#api";
import { type Clock, LruMap } from "#base";
import { serviceAccountGroups, serviceAccountUser } from "../../identity/service-account-name.ts";
import { credentialIdOf, NODE_NAME, NODE_UID, POD_NAME, POD_UID, type UserInfo } from "../../identity/user.ts";
import { audiencesOf, checkSignature, inTime, LEEWAY_SECONDS, MAX_TOKEN_CHARS, peek } from "../jwt.ts";
import type { AccountTokenMetrics } from "../metrics.ts";
import { type ClusterObjects, lookUp, type Plural } from "../objects.ts";
import { tokenKey } from "../token-cache.ts";
import { type Known, type Refused, refused, type TokenAuthenticator } from "../verdict.ts";
import { type KubernetesClaim, kubernetesClaim, type Ref, text } from "./claims.ts";
import type { VerificationKey } from "./keys.ts";

const MAX_VERIFIED = 4_096;
const BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive";
const UNSUPPORTED = "go-jose/go-jose: unsupported cryptographic primitive";

export interface SignedTokenOptions {
  readonly keys: readonly VerificationKey[];
  /** Of a signer whose keys change: those with this id, or all. Default: `keys`. */
  readonly keysFor?: ((id: string) => Promise<readonly VerificationKey[]>) | undefined;
  /** Changes with the keys: signatures are then checked again. */
  readonly generation?: (() => number) | undefined;
  /** The API server's audiences: assumed for tokens without any. */
  readonly audiences: readonly string[];
  /** Absent: nothing is counted. */
  readonly counts?: AccountTokenMetrics | undefined;
}

/** Decides about a token whose issuer, signature and audience are valid. */
export type Judge = (claims: JsonObject, token: string) => Promise<Omit<Known, "audiences"> | Refused>;

interface Verified {
  readonly claims: JsonObject;
  readonly judge: Judge;
}

/** What all service account tokens have in common: issuer, signature, audience. A judge checks the rest. */
export function signedTokens(
  { keys, keysFor, generation, audiences: own, counts }: SignedTokenOptions,
  judges: ReadonlyMap<string, Judge>,
): TokenAuthenticator {
  const verified = new LruMap<string, Verified>(MAX_VERIFIED);
  const keyOf = tokenKey();

  const verify = async (token: string): Promise<Verified | Refused | undefined> => {
    const peeked = peek(token);
    const judge = peeked && judges.get(text(peeked.claims.iss));
    if (peeked === undefined || judge === undefined) return undefined;
    const kid = text(peeked.header.kid);
    const faults = await signatureFaults(token, kid, (await keysFor?.(kid)) ?? keys);
    if (faults === "malformed") return undefined;
    return faults === undefined ? { claims: peeked.claims, judge } : refused(...faults);
  };

  return async (token, asked) => {
    if (token.length > MAX_TOKEN_CHARS) return undefined;
    const id = `${generation?.() ?? 0} ${keyOf(token)}`;
    let found = verified.get(id);
    if (found === undefined) {
      const fresh = await verify(token);
      if (fresh === undefined || "refused" in fresh) return fresh;
      verified.set(id, fresh);
      found = fresh;
    }
    const { claims, judge } = found;
    const named = audiencesOf(claims);
    if (named.length === 0) counts?.legacy();
    const meant = named.length === 0 ? own : named;
    const wanted = asked.length === 0 ? own : asked;
    const audiences = meant.filter((audience) => wanted.includes(audience));
    if (audiences.length === 0 && own.length > 0) {
      return refused(`token audiences ${goList(meant)} is invalid for the target audiences ${goList(wanted)}`);
    }
    const judged = await judge(claims, token);
    if ("refused" in judged) return judged;
    const legacy = named.length === 0 && { "authentication.k8s.io/legacy-token": text(claims.sub) };
    const annotations = { ...judged.annotations, ...legacy };
    return { ...judged, audiences, ...(Object.keys(annotations).length > 0 && { annotations }) };
  };
}

export interface AccountTokenOptions {
  readonly objects: ClusterObjects;
  readonly clock: Clock;
  /** Absent: nothing is counted. */
  readonly counts?: AccountTokenMetrics | undefined;
}

/** Of tokens of the TokenRequest API, which expire. */
export function accountTokenJudge({ objects, clock, counts }: AccountTokenOptions): Judge {
  return async (claims) => {
    const now = clock.now();
    const time = inTime(claims, Math.floor(now / 1000));
    if (time === "expired") return refused("service account token has expired");
    if (time !== "valid") return refused("service account token claims could not be validated");
    const claim = kubernetesClaim(claims);
    const fault = await missing(claim, objects, now - LEEWAY_SECONDS * 1000);
    if (fault !== undefined) return refused(fault);
    const stale = staleness(claim, claims, now);
    // Only tokens whose expiration was extended are told apart.
    if ((claim.warnafter ?? 0) !== 0) (stale.annotations === undefined ? counts?.valid : counts?.stale)?.();
    return { user: userOf(claim, claims), ...stale };
  };
}

async function signatureFaults(
  token: string,
  kid: string,
  keys: readonly VerificationKey[],
): Promise<readonly string[] | "malformed" | undefined> {
  const candidates = kid === "" ? keys : keys.filter(({ id }) => id === kid);
  if (candidates.length === 0) return ["invalid signature, no keys found"];
  const faults = new Set<string>();
  for (const { key, algorithms } of candidates) {
    const signature = await checkSignature(token, key, algorithms);
    if (signature === "good") return undefined;
    if (signature === "malformed") return "malformed";
    faults.add(signature === "bad" ? BAD_SIGNATURE : UNSUPPORTED);
  }
  return [...faults];
}

/** The bound object that no longer exists; undefined if all exist. */
async function missing(
  { namespace, serviceaccount, secret, pod, node }: KubernetesClaim,
  objects: ClusterObjects,
  deletedBefore: number,
): Promise<string | undefined> {
  const account = await lookUp(objects, "serviceaccounts", { namespace, ...serviceaccount });
  if (account === undefined) return `serviceaccounts ${JSON.stringify(serviceaccount.name)} not found`;
  if (account.metadata.uid !== serviceaccount.uid) {
    return `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})`;
  }
  if (wasDeleted(account, deletedBefore)) return `service account ${namespace}/${serviceaccount.name} has been deleted`;
  const bound: readonly (readonly [Plural, string, Ref | undefined])[] = [
    ["secrets", namespace, secret],
    ["pods", namespace, pod],
    // The node of a pod's token is not checked: the pod is.
    ["nodes", "", pod === undefined ? node : undefined],
  ];
  for (const [plural, where, ref] of bound) {
    if (ref === undefined) continue;
    const object = await lookUp(objects, plural, { namespace: where, ...ref });
    if (object === undefined) return "service account token has been invalidated";
    if (object.metadata.uid !== ref.uid) {
      const kind = plural.slice(0, -1);
      return `${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${ref.uid})`;
    }
    if (wasDeleted(object, deletedBefore)) return "service account token has been invalidated";
  }
  return undefined;
}

function wasDeleted({ metadata: { deletionTimestamp } }: KubeObject, before: number): boolean {
  return typeof deletionTimestamp === "string" && toMs(parseTime(deletionTimestamp)) < before;
}

function userOf({ namespace, serviceaccount, pod, node }: KubernetesClaim, { jti }: JsonObject): UserInfo {
  const extra = {
    ...(pod !== undefined && pod.name !== "" && pod.uid !== "" && { [POD_NAME]: [pod.name], [POD_UID]: [pod.uid] }),
    ...credentialIdOf(jti),
    ...(node !== undefined && node.name !== "" && { [NODE_NAME]: [node.name] }),
    ...(node !== undefined && node.name !== "" && node.uid !== "" && { [NODE_UID]: [node.uid] }),
  };
  return {
    name: serviceAccountUser({ namespace, name: serviceaccount.name }),
    uid: serviceaccount.uid,
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** Tokens with an extended expiration work after `warnafter`, with an annotation in the audit log. */
function staleness(
  { warnafter = 0 }: KubernetesClaim,
  { sub }: JsonObject,
  now: number,
): { readonly annotations?: Readonly<Record<string, string>> } {
  const late = Math.floor(now / 1000) - warnafter;
  if (warnafter === 0 || late <= 0) return {};
  const said = `subject: ${text(sub)}, seconds after warning threshold: ${late}`;
  return { annotations: { "authentication.k8s.io/stale-token": said } };
}

function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}
