/**
 * ServiceCIDRs: marked as ready, and deleted only when no Service needs them. The API server allocates the addresses
 * and repairs allocations.
 *
 *     ServiceCIDRs --► the CIDR itself, and overlapping terminating ones ──► planRange ══► finalizer, Ready
 *     IPAddresses  --► the terminating CIDRs that contain them
 */
import { kinds, type networking } from "#api";
import { isEnding } from "../pods/index.ts";
import { defineController, keysFrom } from "../runtime/index.ts";
import { has, overlap, planRange, type Range } from "./plan.ts";

const MANAGED_BY = "ipaddress.kubernetes.io/managed-by";

export const serviceCidrController = defineController({
  name: "service-cidr-controller",
  account: "service-cidrs-controller",
  bind({ cache }) {
    const ranges = cache(kinds.ServiceCIDR);
    const addresses = cache(kinds.IPAddress);
    const toGo = (matters: (range: Range) => boolean) =>
      ranges
        .list()
        .filter((range) => isEnding(range) && matters(range))
        .map(({ metadata }) => metadata.name ?? "");
    const ofServices = () =>
      addresses
        .list()
        .filter(isOfService)
        .map(({ metadata }) => metadata.name ?? "");

    return {
      sources: [
        keysFrom(kinds.ServiceCIDR, ({ object }) => [
          ...new Set([object.metadata.name ?? "", ...toGo((range) => overlap(range, object))]),
        ]),
        keysFrom(kinds.IPAddress, ({ type, object }) =>
          type === "updated" || !isOfService(object) ? [] : toGo((range) => has(range, object.metadata.name ?? "")),
        ),
      ],
      reconcile(key, now) {
        const range = ranges.get(key);
        if (range === undefined) return undefined;
        const others = ranges.list().filter((other) => other.metadata.name !== key && !isEnding(other));
        return planRange(range, { others, addresses: ofServices }, now);
      },
    };
  },
});

/** Addresses of other owners are ignored. */
function isOfService({ metadata }: networking.IPAddress): boolean {
  return metadata.labels?.[MANAGED_BY] === "ipallocator.k8s.io";
}
