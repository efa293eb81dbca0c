/**
 * Which addresses are the endpoints of the Service `kubernetes`, by `--endpoint-reconciler-type`:
 *
 *     lease          this server, and the others that renew their identity Lease
 *     master-count   those that are there and this server, at most `--apiserver-count`
 *     none           left to others
 *
 * 1. A Lease is alive as long as it changes: the clocks of servers are not compared, except that a Lease that has
 *    expired when it is first seen is dead.
 */
import type { KubeObject } from "#api";
import type { Clock } from "#base";
import type { Resources } from "../rest/resources.ts";
import { IDENTITY_NAMESPACE, type Identity, identityName, PEER_ADDRESS } from "./identity.ts";

export const RECONCILER_TYPES = ["lease", "master-count", "none"] as const;
export type EndpointReconcilerType = (typeof RECONCILER_TYPES)[number];

/** Kubernetes' time to live of the record of a server: half as long again as it takes to renew it. */
const ALIVE_MS = 15_000;

interface Lease extends KubeObject {
  readonly spec?: { readonly renewTime?: string; readonly leaseDurationSeconds?: number };
}

/** The other servers, by their Leases. */
export class LivingPeers {
  readonly #resources: Resources;
  readonly #own: Identity;
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly renewTime: string; readonly atMs: number }>();

  constructor(resources: Resources, own: Identity, clock: Clock) {
    this.#resources = resources;
    this.#own = own;
    this.#clock = clock;
  }

  addresses(): readonly string[] {
    const leases = this.#resources.find("coordination.k8s.io", "v1", "leases");
    if (leases === undefined) return [];
    const found: string[] = [];
    const range = { from: `${IDENTITY_NAMESPACE}/apiserver-`, before: `${IDENTITY_NAMESPACE}/apiserver.` };
    for (const stored of leases.readable(range)) {
      const lease = leases.read(stored) as Lease;
      const address = lease.metadata.annotations?.[PEER_ADDRESS];
      if (lease.metadata.name === identityName(this.#own) || address === undefined || !this.#isAlive(lease)) continue;
      found.push(address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, ""));
    }
    return found;
  }

  #isAlive({ metadata, spec }: Lease): boolean {
    const { name = "" } = metadata;
    const renewTime = spec?.renewTime ?? "";
    const seen = this.#seen.get(name);
    if (seen?.renewTime === renewTime) return this.#clock.monotonic() - seen.atMs < ALIVE_MS;
    const until = Date.parse(renewTime) + (spec?.leaseDurationSeconds ?? 0) * 1000;
    const isNew = seen !== undefined || until > this.#clock.now();
    this.#seen.set(name, { renewTime, atMs: isNew ? this.#clock.monotonic() : Number.NEGATIVE_INFINITY });
    return isNew;
  }
}

/** `present`: the addresses that are there. Those behind the own one make room, as every server counts the same. */
export function countedAddresses(present: readonly string[], own: string, count: number): readonly string[] {
  if (present.includes(own) && present.length <= count) return present;
  const addresses = [...new Set([...present, own])].sort();
  while (addresses.length > count) addresses.splice((addresses.indexOf(own) + 1) % addresses.length, 1);
  return addresses;
}
