/** The compiled rules, read as the kernel reads them, do with every connection what the addresses of Services say. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { IptablesState } from "./changes.ts";
import { type Fate, fateOf, isIn, type Packet, replay } from "./testing/model.ts";

const PODS = ["10.244.0.0/16"];
const CLUSTER_IPS = ["10.96.0.1", "10.96.0.2"];
const OTHER_IPS = ["172.18.0.2", "192.0.2.1"];
const SOURCES = ["10.244.0.1", "10.244.7.7", "172.18.0.2", "198.51.100.9", "203.0.113.1"];

const endpoint = fc.record({
  address: fc.constantFrom("10.244.0.1", "10.244.0.2", "10.244.0.3"),
  port: fc.constantFrom(8080, 8081),
  isLocal: fc.boolean(),
});
const endpoints = fc.uniqueArray(endpoint, { maxLength: 3, selector: ({ address, port }) => `${address} ${port}` });
const place = {
  family: fc.constant("IPv4" as const),
  protocol: fc.constantFrom("tcp" as const, "udp" as const),
  port: fc.constantFrom(80, 81),
};
const whenEmpty = fc.constantFrom("reject" as const, "drop" as const);
const internal: fc.Arbitrary<VirtualAddress> = fc.record({
  ...place,
  address: fc.constantFrom(...CLUSTER_IPS),
  endpoints,
  masquerade: fc.constant("outsiders" as const),
  whenEmpty,
});
const external: fc.Arbitrary<VirtualAddress> = fc
  .record({
    ...place,
    address: fc.constantFrom(...OTHER_IPS),
    endpoints,
    inside: fc.option(endpoints, { nil: undefined }),
    masquerade: fc.constantFrom("nobody" as const, "everybody" as const),
    whenEmpty,
    isGuarded: fc.boolean(),
  })
  .map(({ inside, isGuarded, ...vip }) => ({
    ...vip,
    ...(inside !== undefined && { endpointsFromInside: inside }),
    // Whom ranges keep out matters only where there is somebody to be kept from.
    ...(isGuarded && vip.endpoints.length > 0 && { sourceRanges: ["198.51.100.0/24"] }),
  }));
const addresses = fc.uniqueArray(fc.oneof(internal, external), {
  maxLength: 6,
  selector: ({ address, protocol, port }) => `${address} ${protocol} ${port}`,
});
const packet: fc.Arbitrary<Packet> = fc.record({
  from: fc.constantFrom(...SOURCES),
  to: fc.constantFrom(...CLUSTER_IPS, ...OTHER_IPS),
  protocol: fc.constantFrom("tcp", "udp"),
  port: fc.constantFrom(80, 81, 82),
  isLocal: fc.boolean(),
});

/** What the addresses say, read directly. */
function wanted(all: readonly VirtualAddress[], { from, to, protocol, port, isLocal }: Packet): Fate {
  const nowhere = (verdict: Fate["verdict"]): Fate => ({ sentTo: [], isMasqueraded: false, verdict });
  const vip = all.find((each) => each.address === to && each.protocol === protocol && each.port === port);
  const isClusterIp = all.some((each) => each.address === to && each.masquerade === "outsiders");
  if (vip === undefined) return nowhere(isClusterIp ? "reject" : "accept");
  const isPod = PODS.some((range) => isIn(from, range));
  const { sourceRanges, endpointsFromInside = [], masquerade } = vip;
  if (sourceRanges !== undefined && !isLocal && !sourceRanges.some((range) => isIn(from, range)))
    return nowhere("drop");
  const isInside = (isPod || isLocal) && endpointsFromInside.length > 0;
  const chosen = isInside ? endpointsFromInside : vip.endpoints;
  if (chosen.length === 0) return nowhere(vip.whenEmpty);
  return {
    sentTo: chosen.map((each) => `${each.address}:${each.port}`).sort(),
    isMasqueraded: masquerade === "everybody" || (masquerade === "outsiders" && !isPod),
    verdict: "accept",
  };
}

it("for any Services and any connection", () => {
  fc.assert(
    fc.property(addresses, addresses, fc.array(packet, { minLength: 5, maxLength: 30 }), (before, after, packets) => {
      const state = new IptablesState("IPv4", PODS);
      const chains = new Map<string, string[]>();
      replay(chains, state.whole([]));
      for (const all of [before, after]) {
        replay(chains, state.change(new Map([["web", all]])));
        for (const each of packets) expect(fateOf(chains, each)).toEqual(wanted(all, each));
      }
    }),
    { numRuns: 300 },
  );
});
