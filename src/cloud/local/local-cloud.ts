/**
 * The cloud of one machine: load balancers are addresses from a pool, which the kube-proxies of the nodes serve.
 *
 * It stores nothing: after a start it learns from the status of Services who has which address.
 */
import type { core } from "#api";
import { objectKey } from "#client";
import type { Cloud, LoadBalancers } from "../cloud.ts";
import { AddressPool, AddressPoolError, type Family } from "./address-pool.ts";

export interface LocalCloudOptions {
  /** For example `192.0.2.0/28` or `192.0.2.10-192.0.2.20`. */
  readonly addresses: readonly string[];
  /** Another address for the same load balancer, which a forwarder serves. Default: none. */
  readonly alsoAt?: ((address: string) => string | undefined) | undefined;
}

/** Throws AddressPoolError for an invalid range. */
export function localCloud({ addresses, alsoAt = () => undefined }: LocalCloudOptions): Cloud {
  return { name: "local", loadBalancers: localLoadBalancers(new AddressPool(addresses), alsoAt) };
}

function localLoadBalancers(pool: AddressPool, alsoAt: NonNullable<LocalCloudOptions["alsoAt"]>): LoadBalancers {
  return {
    adopt(service) {
      for (const { ip } of service.status?.loadBalancer?.ingress ?? [])
        if (ip !== undefined) pool.claim(objectKey(service), ip);
    },

    async ensure(service) {
      const key = objectKey(service);
      const wanted = wantedAddresses(service, key, pool);
      for (const address of pool.addressesOf(key)) if (!wanted.includes(address)) pool.release(address);
      const forwarded = wanted.map(alsoAt).filter((ip) => ip !== undefined);
      return {
        ingress: [
          ...wanted.map((ip) => ({ ip, ipMode: "VIP" })),
          // Nodes do not serve it.
          ...forwarded.map((ip) => ({ ip, ipMode: "Proxy" })),
        ],
      };
    },

    async remove(service) {
      for (const address of pool.addressesOf(objectKey(service))) pool.release(address);
    },
  };
}

/** One address for each IP family of the Service that the pool has; the first family is required. */
function wantedAddresses({ spec }: core.Service, key: string, pool: AddressPool): string[] {
  const asked = spec?.loadBalancerIP ?? "";
  const families = (spec?.ipFamilies ?? []).filter((family): family is Family => family !== "");
  const [first = "IPv4", ...others] = families;
  const found: string[] = [];
  for (const family of [first, ...others.filter((each) => pool.has(each))]) {
    if (asked !== "" && familyOf(asked) === family) {
      if (!pool.claim(key, asked)) {
        const owner = pool.ownerOf(asked);
        const why = owner === undefined ? "is not in the pool" : `belongs to the Service ${owner}`;
        throw new AddressPoolError(`the address ${asked} ${why}`);
      }
      found.push(asked);
      continue;
    }
    const kept = pool.addressesOf(key).find((address) => familyOf(address) === family);
    const address = kept ?? pool.take(key, family);
    if (address === undefined) throw new AddressPoolError(`no ${family} address is left in the pool`);
    found.push(address);
  }
  return found;
}

function familyOf(address: string): Family {
  return address.includes(":") ? "IPv6" : "IPv4";
}
