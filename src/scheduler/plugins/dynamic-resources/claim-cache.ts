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
import type { Claim } from "./pod-claims.ts";

export class ClaimCache {
  readonly #get: (key: string) => Claim | undefined;
  readonly #use: DeviceUse;
  /** By uid. */
  readonly #pending = new Map<string, resource.AllocationResult>();
  /** By key. */
  readonly #written = new Map<string, Claim>();

  constructor(informers: Informers, use: DeviceUse) {
    const informer = informers.of(kinds.ResourceClaim);
    this.#get = (key) => informer.cache.get(key);
    this.#use = use;
    informer.onChange((change) => this.#follow(change));
  }

  get(key: string): Claim | undefined {
    const known = this.#get(key);
    const written = this.#written.get(key);
    return written !== undefined && isAhead(written, known) ? written : known;
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
    if (written !== undefined && (type === "deleted" || !isAhead(written, object))) this.#written.delete(key);
    const { uid = "" } = object.metadata;
    if (old !== undefined && old.metadata.uid !== uid) this.#use.set(old.metadata.uid ?? "", undefined);
    if (this.#pending.has(uid) && type !== "deleted") return;
    this.#use.set(uid, type === "deleted" ? this.#pending.get(uid) : this.get(key)?.status?.allocation);
  }
}

/** Whether the claim is a later revision of the same object than the cache shows. */
function isAhead(written: Claim, known: Claim | undefined): boolean {
  return known?.metadata.uid === written.metadata.uid && revisionOf(written) > revisionOf(known as Claim);
}
