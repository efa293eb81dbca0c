/**
 * Addresses of Services. An address is taken by creating the IPAddress of its name, and free again when that is
 * deleted.
 *
 * 1. Creation is the lock: of any number of servers on one store, one gets the address. The cache only saves attempts.
 * 2. The ranges are those of the ServiceCIDRs that are ready: an address belongs to the narrowest of them.
 * 3. An address is given back only on behalf of the Service that it was given to.
 */
import { type IpFamily, isStatusError, type networking } from "#api";
import type { MetricsRegistry } from "#base";
import type { StoredObject } from "../cache/stored-object.ts";
import type { Loopback } from "../loopback/loopback.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { AnyDraft } from "../rest/draft.ts";
import type { Resource } from "../rest/resource.ts";
import type { StorageContext } from "../rest/server-context.ts";
import { createDraft } from "../rest/write/create.ts";
import { erase } from "../rest/write/persist.ts";
import { type AddressRange, addressRange } from "./address-range.ts";
import { type AddressMetrics, addressMetrics } from "./allocator-metrics.ts";
import { places } from "./bands.ts";
import { full, type Owner, type Refusal, sameOwner } from "./owner.ts";

export const MANAGED_BY = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" } as const;
const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";

export interface ClusterIPsOptions {
  readonly storage: StorageContext;
  readonly loopback: Loopback;
  readonly addresses: Resource;
  readonly cidrs: Resource;
  readonly metrics: MetricsRegistry;
  /** Whether the Service exists. */
  exists(owner: Owner): boolean;
}

export class ClusterIPs {
  readonly #storage: StorageContext;
  readonly #loopback: Loopback;
  readonly #addresses: Resource;
  readonly #cidrs: Resource;
  readonly #exists: (owner: Owner) => boolean;
  readonly #metrics: AddressMetrics;
  #ranges: { readonly of: readonly StoredObject[]; readonly ranges: readonly AddressRange[] } = { of: [], ranges: [] };

  constructor({ storage, loopback, addresses, cidrs, metrics, exists }: ClusterIPsOptions) {
    this.#exists = exists;
    this.#storage = storage;
    this.#loopback = loopback;
    this.#addresses = addresses;
    this.#cidrs = cidrs;
    this.#metrics = addressMetrics(metrics, storage.clock, this);
  }

  /** Takes the address that a Service names. */
  async take(address: string, family: IpFamily, owner: Owner, dryRun: boolean): Promise<Refusal | undefined> {
    const range = this.#rangeOf(address, family);
    if (range === undefined) return { why: "the provided network does not match the current range" };
    const place = range.placeOf(address) ?? 0;
    if (place < range.first || place > range.last) {
      return { why: `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.cidr}` };
    }
    const name = range.addressOf(place);
    const startMs = this.#storage.clock.monotonic();
    const free = dryRun ? this.#addresses.cache.get(name) === undefined : await this.#create(name, family, owner);
    const isTaken = free || this.#leftFor(name, owner);
    if (!dryRun) this.#metrics.allocated(range.cidr, "static", isTaken, startMs);
    return isTaken ? undefined : { why: "provided IP is already allocated" };
  }

  /** Taken for this Service, which was never stored: the server stopped between the two writes. */
  #leftFor(name: string, owner: Owner): boolean {
    const stored = this.#addresses.cache.get(name);
    return stored !== undefined && sameOwner(ownerOf(stored), owner) && !this.#exists(owner);
  }

  /** What a dry run shows instead of an address that it would take: that of the network. */
  imagined(family: IpFamily): string | Refusal {
    return (
      this.ranges()
        .find((range) => range.family === family)
        ?.addressOf(0) ?? full
    );
  }

  /** Takes any address of a family. */
  async takeNext(family: IpFamily, owner: Owner): Promise<string | Refusal> {
    const startMs = this.#storage.clock.monotonic();
    for (const range of this.ranges()) {
      if (range.family !== family) continue;
      for (const place of places(range.first, range.last, range.upper, this.#storage.random)) {
        const address = range.addressOf(place);
        if (this.#addresses.cache.get(address) !== undefined) continue;
        if (!(await this.#create(address, family, owner))) continue;
        this.#metrics.allocated(range.cidr, "dynamic", true, startMs);
        return address;
      }
      this.#metrics.allocated(range.cidr, "dynamic", false, startMs);
    }
    return full;
  }

  /** Frees an address, if it belongs to this owner. */
  async free(address: string, owner: Owner): Promise<boolean> {
    const stored = this.#addresses.cache.get(address);
    if (stored === undefined || !sameOwner(ownerOf(stored), owner)) return false;
    const { ok } = await erase(this.#storage, this.#addresses, address, stored);
    return ok;
  }

  /** Every address that an allocator has taken, with its owner. */
  *taken(): Generator<{ readonly address: string; readonly owner: Owner }> {
    for (const stored of this.#addresses.readable()) {
      const { name: address = "", labels } = stored.object.metadata;
      const owner = ownerOf(stored);
      const [name, value] = Object.entries(MANAGED_BY)[0] ?? ["", ""];
      if (owner !== undefined && labels?.[name] === value) yield { address, owner };
    }
  }

  has(address: string): boolean {
    return this.#addresses.cache.get(address) !== undefined;
  }

  ranges(): readonly AddressRange[] {
    const found = [...this.#cidrs.readable()];
    if (found.length !== this.#ranges.of.length || found.some((stored, i) => stored !== this.#ranges.of[i])) {
      this.#ranges = { of: found, ranges: found.flatMap(rangesOf) };
    }
    return this.#ranges.ranges;
  }

  #rangeOf(address: string, family: IpFamily): AddressRange | undefined {
    return this.ranges()
      .filter((range) => range.family === family && range.placeOf(address) !== undefined)
      .sort((a, b) => b.prefixLength - a.prefixLength)[0];
  }

  async #create(name: string, family: IpFamily, owner: Owner): Promise<boolean> {
    const { context } = this.#loopback;
    const { kind } = this.#addresses;
    const draft = {
      kind: kind.kind,
      apiVersion: `${kind.group}/${kind.version}`,
      metadata: { name, labels: { [FAMILY_LABEL]: family, ...MANAGED_BY } },
      spec: { parentRef: { resource: "services", namespace: owner.namespace, name: owner.name } },
    };
    try {
      await createDraft(serverRequest(context, this.#addresses), draft as unknown as AnyDraft, false);
      return true;
    } catch (error) {
      if (isStatusError(error, "AlreadyExists")) return false;
      throw error;
    }
  }
}

function ownerOf({ object }: StoredObject): Owner | undefined {
  const parent = (object as networking.IPAddress).spec?.parentRef;
  return parent?.resource === "services" ? { namespace: parent.namespace ?? "", name: parent.name } : undefined;
}

function rangesOf({ object }: StoredObject): readonly AddressRange[] {
  const { metadata, spec, status } = object as networking.ServiceCIDR;
  const ready = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  if (!ready || metadata.deletionTimestamp !== undefined) return [];
  return (spec?.cidrs ?? []).flatMap((cidr) => addressRange(cidr) ?? []);
}
