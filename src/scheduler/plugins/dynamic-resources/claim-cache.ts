/**
 * Claims and the use of devices as they will be after pending writes, so that two claims do not get the same device.
 *
 *     reserved here ──► pending ──► written ──► shown by the cache
 *
 * 1. While an allocation is pending, other Pods with the same claim wait: they must not reserve a claim whose
 *    allocation may still fail.
 * 2. What was written counts until the cache shows this revision of the claim or a later one.
 */
import { kinds, type resource } from "#api";
import { type Change, type Informers, objectKey, revisionOf } from "#client";
import type { DeviceUse } from "./device-use.ts";
import { EXTENDED_CLAIM } from "./extended-resources.ts";
import type { Claim } from "./pod-claims.ts";

export class ClaimCache {
  readonly #get: (key: string) => Claim | undefined;
  readonly #use: DeviceUse;
  /** By uid. */
  readonly #pending = new Map<string, resource.AllocationResult>();
  /** By key. */
  readonly #written = new Map<string, Claim>();
  /** Claims for extended resources, by the uid of their Pod. */
  readonly #extended = new Map<string, string>();
  /** Keys of written claims that the cache has never shown. */
  readonly #fresh = new Set<string>();

  constructor(informers: Informers, use: DeviceUse) {
    const informer = informers.of(kinds.ResourceClaim);
    this.#get = (key) => informer.cache.get(key);
    this.#use = use;
    informer.onChange((change) => this.#follow(change));
  }

  get(key: string): Claim | undefined {
    const known = this.#get(key);
    const written = this.#written.get(key);
    if (known === undefined) return this.#fresh.has(key) ? written : undefined;
    return written !== undefined && isAhead(written, known) ? written : known;
  }

  /** A claim for extended resources of an earlier attempt for this Pod. */
  extendedOf(podUid: string): Claim | undefined {
    const key = this.#extended.get(podUid);
    return key === undefined ? undefined : this.get(key);
  }

  isPending({ metadata }: Claim): boolean {
    return this.#pending.has(metadata.uid ?? "");
  }

  reserve({ metadata: { uid = "" } }: Claim, allocation: resource.AllocationResult): void {
    this.#pending.set(uid, allocation);
    this.#use.set(uid, allocation);
  }

  /** The server has this claim now. */
  wrote(claim: Claim): void {
    const key = objectKey(claim);
    const known = this.#get(key);
    if (isAhead(claim, known)) this.#written.set(key, claim);
    this.#settle(claim.metadata.uid ?? "", key);
  }

  /** A claim that was pending under a temporary uid exists now: it counts before the cache shows it. */
  created(temporary: Claim, claim: Claim): void {
    const key = objectKey(claim);
    if (this.#get(key) === undefined) this.#fresh.add(key);
    this.#written.set(key, claim);
    this.#pending.delete(temporary.metadata.uid ?? "");
    this.#use.set(temporary.metadata.uid ?? "", undefined);
    this.#use.set(claim.metadata.uid ?? "", claim.status?.allocation);
  }

  /** The allocation was not written. */
  release(claim: Claim): void {
    if (this.isPending(claim)) this.#settle(claim.metadata.uid ?? "", objectKey(claim));
  }

  #settle(uid: string, key: string): void {
    this.#pending.delete(uid);
    const now = this.get(key);
    this.#use.set(uid, now?.metadata.uid === uid ? now.status?.allocation : undefined);
  }

  #follow({ type, object, old }: Change<Claim>): void {
    const key = objectKey(object);
    const written = this.#written.get(key);
    this.#fresh.delete(key);
    const owner = extendedOwner(object);
    if (owner !== undefined && type === "deleted") this.#extended.delete(owner);
    else if (owner !== undefined) this.#extended.set(owner, key);
    if (written !== undefined && (type === "deleted" || !isAhead(written, object))) this.#written.delete(key);
    const { uid = "" } = object.metadata;
    if (old !== undefined && old.metadata.uid !== uid) this.#use.set(old.metadata.uid ?? "", undefined);
    if (this.#pending.has(uid) && type !== "deleted") return;
    this.#use.set(uid, type === "deleted" ? this.#pending.get(uid) : this.get(key)?.status?.allocation);
  }
}

function extendedOwner({ metadata }: Claim): string | undefined {
  if (metadata.annotations?.[EXTENDED_CLAIM] !== "true") return undefined;
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Whether the claim is a later revision of the same object than the cache shows. */
function isAhead(written: Claim, known: Claim | undefined): boolean {
  return known?.metadata.uid === written.metadata.uid && revisionOf(written) > revisionOf(known as Claim);
}
