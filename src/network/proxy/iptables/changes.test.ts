/** What iptables-restore is given: golden scripts, and that any order of changes adds up to the same. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { IptablesState } from "./changes.ts";
import { replay } from "./testing/model.ts";

const PODS = ["10.244.0.0/16"];
const endpoint = (last: number, isLocal = false) => ({ address: `10.244.0.${last}`, port: 8080, isLocal });

function vip(address: string, more: Partial<VirtualAddress> = {}): VirtualAddress {
  return {
    family: "IPv4",
    address,
    protocol: "tcp",
    port: 80,
    endpoints: [endpoint(1, true), endpoint(2)],
    masquerade: "outsiders",
    whenEmpty: "reject",
    ...more,
  };
}

const put = (state: IptablesState, name: string, ...addresses: VirtualAddress[]) =>
  state.change(new Map([[name, addresses]]));

describe("scripts", () => {
  it.each<[string, VirtualAddress, string]>([
    [
      "a cluster address",
      vip("10.96.0.1"),
      `*filter
-A K8TS-CLUSTER-IPS -d 10.96.0.1/32 -j K8TS-REFUSE
COMMIT
*nat
:K8TS-SVC-A - [0:0]
-A K8TS-SVC-A -j K8TS-MARK-OUTSIDERS
-A K8TS-SVC-A -p tcp -m statistic --mode random --probability 0.50000000000 -j DNAT --to-destination 10.244.0.1:8080
-A K8TS-SVC-A -p tcp -j DNAT --to-destination 10.244.0.2:8080
-A K8TS-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j K8TS-SVC-A
-A K8TS-HAIRPIN -s 10.244.0.1/32 -d 10.244.0.1/32 -m conntrack --ctstate DNAT -j MASQUERADE
COMMIT
`,
    ],
    [
      "nobody behind it",
      vip("10.96.0.1", { endpoints: [] }),
      `*filter
-A K8TS-ABSENT -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j K8TS-REFUSE
-A K8TS-CLUSTER-IPS -d 10.96.0.1/32 -j K8TS-REFUSE
COMMIT
`,
    ],
    [
      "a node port that stays local, without anybody here",
      vip("172.18.0.2", { masquerade: "nobody", endpoints: [], whenEmpty: "drop", endpointsFromInside: [endpoint(2)] }),
      `*filter
-A K8TS-ABSENT -d 172.18.0.2/32 -p tcp -m tcp --dport 80 -j DROP
COMMIT
*nat
:K8TS-SVC-A - [0:0]
:K8TS-SVC-B - [0:0]
-A K8TS-SVC-A -p tcp -j DNAT --to-destination 10.244.0.2:8080
-A K8TS-SVC-B -s 10.244.0.0/16 -j K8TS-SVC-A
-A K8TS-SVC-B -m addrtype --src-type LOCAL -j K8TS-SVC-A
-A K8TS-SERVICES -d 172.18.0.2/32 -p tcp -m tcp --dport 80 -j K8TS-SVC-B
COMMIT
`,
    ],
    [
      "a load balancer for some, with affinity",
      vip("192.0.2.1", {
        ...{ masquerade: "everybody", protocol: "udp", affinitySeconds: 60 },
        ...{ sourceRanges: ["198.51.100.0/24"], endpoints: [endpoint(2)] },
      }),
      `*filter
-A K8TS-ABSENT -d 192.0.2.1/32 -p udp -m udp --dport 80 -j DROP
COMMIT
*nat
:K8TS-SVC-A - [0:0]
-A K8TS-SVC-A -j K8TS-MARK
-A K8TS-SVC-A -p udp -m recent --name K8TS-B --update --seconds 60 --reap -j DNAT --to-destination 10.244.0.2:8080
-A K8TS-SVC-A -p udp -m recent --name K8TS-B --set -j DNAT --to-destination 10.244.0.2:8080
-A K8TS-SERVICES -s 198.51.100.0/24 -d 192.0.2.1/32 -p udp -m udp --dport 80 -j K8TS-SVC-A
-A K8TS-SERVICES -m addrtype --src-type LOCAL -d 192.0.2.1/32 -p udp -m udp --dport 80 -j K8TS-SVC-A
COMMIT
`,
    ],
  ])("%s", (_, given, want) => {
    expect(named(put(new IptablesState("IPv4", PODS), "web", given))).toBe(want);
  });

  it("another endpoint rewrites its chain alone", () => {
    const state = new IptablesState("IPv4", PODS);
    put(state, "web", vip("10.96.0.1", { endpoints: [endpoint(2)] }));
    expect(named(put(state, "web", vip("10.96.0.1", { endpoints: [endpoint(3)] })))).toBe(`*nat
:K8TS-SVC-A - [0:0]
-A K8TS-SVC-A -j K8TS-MARK-OUTSIDERS
-A K8TS-SVC-A -p tcp -j DNAT --to-destination 10.244.0.3:8080
COMMIT
`);
    expect(put(state, "web", vip("10.96.0.1", { endpoints: [endpoint(3)] }))).toBe("");
  });

  it("a Service that goes takes what only it wanted", () => {
    const state = new IptablesState("IPv4", PODS);
    put(state, "web", vip("10.96.0.1"), vip("10.96.0.1", { port: 81 }));
    put(state, "other", vip("10.96.0.2"));
    expect(named(put(state, "web"))).toBe(`*filter
-D K8TS-CLUSTER-IPS -d 10.96.0.1/32 -j K8TS-REFUSE
COMMIT
*nat
:K8TS-SVC-A - [0:0]
:K8TS-SVC-B - [0:0]
-D K8TS-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j K8TS-SVC-A
-D K8TS-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 81 -j K8TS-SVC-B
-X K8TS-SVC-A
-X K8TS-SVC-B
COMMIT
`);
  });

  it("made from nothing leave others alone, and remove what an earlier run left behind", () => {
    const script = new IptablesState("IPv4", PODS).whole(["PREROUTING", "KUBE-SERVICES", "K8TS-SVC-OLD"]);
    expect(script).toContain("-X K8TS-SVC-OLD");
    expect(script.match(/KUBE|PREROUTING|^-F/m)).toBeNull();
    expect(script).toContain(":K8TS-SERVICES - [0:0]");
  });

  it("of any changes add up to what is made from nothing", () => {
    const address = fc.record({
      last: fc.integer({ min: 1, max: 3 }),
      port: fc.constantFrom(80, 81),
      count: fc.integer({ min: 0, max: 3 }),
    });
    const change = fc.record({
      owner: fc.constantFrom("a", "b"),
      addresses: fc.uniqueArray(address, { maxLength: 3, selector: ({ last, port }) => `${last} ${port}` }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const state = new IptablesState("IPv4", PODS);
        const kernel = new Map<string, string[]>();
        replay(kernel, state.whole([]));
        for (const { owner, addresses } of changes) {
          const vips = addresses.map(({ last, port, count }) =>
            vip(`10.96.0.${last}`, { port, endpoints: [1, 2, 3].slice(0, count).map((each) => endpoint(each, true)) }),
          );
          replay(kernel, put(state, owner, ...vips));
        }
        const anew = new Map<string, string[]>();
        replay(anew, state.whole([]));
        const sorted = (chains: Map<string, string[]>) =>
          [...chains].map(([name, rules]) => [name, name.startsWith("K8TS-SVC") ? rules : rules.toSorted()]).sort();
        expect(sorted(kernel)).toEqual(sorted(anew));
      }),
      { numRuns: 200 },
    );
  });
});

/** Hashes by letters, in the order in which they come. */
function named(script: string): string {
  const letters = new Map<string, string>();
  return script.replaceAll(/[0-9A-F]{16}(-IN)?/g, (hash) => {
    const letter = letters.get(hash) ?? String.fromCharCode(65 + letters.size);
    letters.set(hash, letter);
    return letter;
  });
}
