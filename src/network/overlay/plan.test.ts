/** The routes between nodes: straight on one link, through a tunnel otherwise. */
import { describe, expect, it } from "vitest";
import { type OverlayChanges, overlayChanges } from "./changes.ts";
import { type Link, type Overlay, type OverlayMode, type Peer, planOverlay } from "./plan.ts";
import { macOf } from "./vtep.ts";

const node = (name: string, addresses: readonly string[], ...podCidrs: string[]): Peer => ({
  name,
  addresses,
  podCidrs,
});
const A = node("a", ["192.168.1.10"], "10.244.1.0/24");
const LINKS: readonly Link[] = [
  { name: "lo", mtu: 65536, addresses: ["127.0.0.1/8", "::1/128"] },
  { name: "eth0", mtu: 1500, addresses: ["192.168.1.10/24", "fd01::10/64"] },
  { name: "veth1", mtu: 1500, addresses: ["10.244.1.1/32"] },
];
const TUNNEL = { local: "192.168.1.10", mac: "0a:6b:c0:a8:01:0a", mtu: 1450, addresses: ["10.244.1.0"] };
const NO_ROUTES: Overlay = { routes: [], neighbours: [], ends: [] };

interface Case {
  readonly name: string;
  readonly self?: Peer;
  readonly peers: readonly Peer[];
  readonly links?: readonly Link[];
  readonly mode?: OverlayMode;
  /** `range via address device`. */
  readonly routes: readonly string[];
  readonly mtu?: number;
  readonly ends?: readonly string[];
  readonly problems?: readonly string[];
}

describe("routes to the Pods of others", () => {
  it.each<Case>([
    { name: "none to its own", peers: [A], routes: [] },
    {
      name: "on one link: straight",
      peers: [node("b", ["192.168.1.11"], "10.244.2.0/24")],
      routes: ["10.244.2.0/24 via 192.168.1.11 eth0"],
    },
    {
      name: "elsewhere: through the tunnel",
      peers: [node("b", ["192.168.2.11"], "10.244.2.0/24")],
      routes: ["10.244.2.0/24 via 10.244.2.0 k8ts-vxlan"],
      mtu: 1450,
      ends: ["0a:6b:c0:a8:02:0b at 192.168.2.11"],
    },
    {
      name: "each as it can be reached",
      peers: [node("c", ["192.168.2.11"], "10.244.3.0/24"), node("b", ["192.168.1.11"], "10.244.2.0/24")],
      routes: ["10.244.2.0/24 via 192.168.1.11 eth0", "10.244.3.0/24 via 10.244.3.0 k8ts-vxlan"],
      mtu: 1450,
      ends: ["0a:6b:c0:a8:02:0b at 192.168.2.11"],
    },
    {
      name: "always through the tunnel, where that is asked for",
      peers: [node("b", ["192.168.1.11"], "10.244.2.0/24")],
      mode: "vxlan",
      routes: ["10.244.2.0/24 via 10.244.2.0 k8ts-vxlan"],
      mtu: 1450,
      ends: ["0a:6b:c0:a8:01:0b at 192.168.1.11"],
    },
    {
      name: "both families, straight",
      self: node("a", ["192.168.1.10", "fd01::10"], "10.244.1.0/24", "fd00:1::/64"),
      peers: [node("b", ["192.168.1.11", "fd01::11"], "10.244.2.0/24", "fd00:2::/64")],
      routes: ["10.244.2.0/24 via 192.168.1.11 eth0", "fd00:2::/64 via fd01::11 eth0"],
    },
    {
      name: "of a family in which the other has no address: through the tunnel of the other one",
      self: node("a", ["192.168.1.10", "fd01::10"], "10.244.1.0/24", "fd00:1::/64"),
      peers: [node("b", ["192.168.1.11"], "10.244.2.0/24", "fd00:2::/64")],
      routes: ["10.244.2.0/24 via 192.168.1.11 eth0", "fd00:2::/64 via fd00:2:: k8ts-vxlan"],
      mtu: 1450,
      ends: ["0a:6b:c0:a8:01:0b at 192.168.1.11"],
    },
    {
      name: "a tunnel of IPv6 takes more of each packet",
      self: node("a", ["fd01::10"], "fd00:1::/64"),
      peers: [node("b", ["fd02::11"], "fd00:2::/64")],
      routes: ["fd00:2::/64 via fd00:2:: k8ts-vxlan"],
      mtu: 1430,
      ends: [`${macOf("fd02::11")} at fd02::11`],
    },
    {
      name: "an address that is alone on its link",
      links: [{ name: "eth0", mtu: 1460, addresses: ["192.168.1.10/32"] }],
      peers: [node("b", ["192.168.1.11"], "10.244.2.0/24")],
      routes: ["10.244.2.0/24 via 10.244.2.0 k8ts-vxlan"],
      mtu: 1410,
      ends: ["0a:6b:c0:a8:01:0b at 192.168.1.11"],
    },
    { name: "a node without a range yet", peers: [node("b", ["192.168.1.11"])], routes: [] },
    {
      name: "what is no range is told",
      peers: [node("b", ["192.168.1.11"], "10.244.2.0/99")],
      routes: [],
      problems: ["b: 10.244.2.0/99 is not a CIDR"],
    },
    {
      name: "a node without an address of the tunnel's family",
      peers: [node("b", ["fd02::11"], "10.244.2.0/24"), node("c", [], "10.244.3.0/24")],
      routes: [],
      problems: [
        "b: it has no address of the IP family of 192.168.1.10",
        "c: it has no address of the IP family of 192.168.1.10",
      ],
    },
    {
      name: "an address of its own that is on no link",
      self: node("a", ["203.0.113.1"], "10.244.1.0/24"),
      peers: [node("b", ["192.168.1.11"], "10.244.2.0/24")],
      routes: [],
      problems: ["b: this node's own address is not on any of its links"],
    },
  ])("$name", ({ self = A, peers, links = LINKS, mode, routes, mtu, ends = [], problems = [] }) => {
    const plan = planOverlay(self, [self, ...peers], links, mode);
    expect(plan.routes.map(({ cidr, via, device }) => `${cidr} via ${via} ${device}`)).toEqual(routes);
    expect(plan.tunnel?.mtu).toBe(mtu);
    expect(plan.ends.map(({ mac, address }) => `${mac} at ${address}`)).toEqual(ends);
    expect(plan.problems).toEqual(problems);
  });

  it("ends have names of their own", () => {
    const macs = ["192.168.1.10", "192.168.1.11", "fd01::10", "fd01::11"].map(macOf);
    expect(new Set(macs).size).toBe(4);
    // Administered locally, and no group's.
    for (const mac of macs) expect(Number.parseInt(mac, 16) & 3).toBe(2);
  });
});

describe("what the kernel is told", () => {
  const through = (last: number): Overlay => ({
    routes: [{ cidr: `10.244.${last}.0/24`, via: `10.244.${last}.0`, device: "k8ts-vxlan" }],
    tunnel: TUNNEL,
    neighbours: [{ address: `10.244.${last}.0`, mac: `0a:6b:c0:a8:02:0${last}` }],
    ends: [{ mac: `0a:6b:c0:a8:02:0${last}`, address: `192.168.2.${last}` }],
  });
  const straight: Overlay = {
    ...NO_ROUTES,
    routes: [{ cidr: "10.244.2.0/24", via: "192.168.1.11", device: "eth0" }],
  };
  const made = [
    "link add k8ts-vxlan address 0a:6b:c0:a8:01:0a mtu 1450 type vxlan id 27448 local 192.168.1.10 dstport 4789 nolearning",
    "address replace 10.244.1.0/32 dev k8ts-vxlan",
    "link set k8ts-vxlan up",
  ];
  const added = (last: number) => [
    `neighbour replace 10.244.${last}.0 lladdr 0a:6b:c0:a8:02:0${last} nud permanent dev k8ts-vxlan`,
    `route replace 10.244.${last}.0/24 via 10.244.${last}.0 dev k8ts-vxlan onlink proto 91`,
  ];
  const end = (verb: string, last: number, more = "") =>
    `fdb ${verb} 0a:6b:c0:a8:02:0${last} dev k8ts-vxlan dst 192.168.2.${last} self${more}`;

  it.each<[string, Overlay, Overlay, OverlayChanges]>([
    ["nothing, where all is there", through(2), through(2), { ip: [], bridge: [] }],
    [
      "the first behind the tunnel",
      NO_ROUTES,
      through(2),
      { ip: [...made, ...added(2)], bridge: [end("replace", 2, " permanent")] },
    ],
    [
      "another one behind it",
      through(2),
      through(3),
      {
        ip: [
          "route delete 10.244.2.0/24 via 10.244.2.0 dev k8ts-vxlan onlink proto 91",
          "neighbour delete 10.244.2.0 dev k8ts-vxlan",
          ...added(3),
        ],
        bridge: [end("delete", 2), end("replace", 3, " permanent")],
      },
    ],
    [
      "the last one goes, and the tunnel with it",
      through(2),
      NO_ROUTES,
      { ip: ["link delete k8ts-vxlan"], bridge: [] },
    ],
    [
      "from the tunnel to the link",
      through(2),
      straight,
      {
        ip: ["link delete k8ts-vxlan", "route replace 10.244.2.0/24 via 192.168.1.11 dev eth0 proto 91"],
        bridge: [],
      },
    ],
    [
      "a link that takes less",
      { ...through(2), tunnel: { ...TUNNEL, mtu: 1500 } },
      through(2),
      { ip: ["link set k8ts-vxlan mtu 1450"], bridge: [] },
    ],
    [
      "another address of its own: the tunnel is made anew, with all that led through it",
      { ...through(2), tunnel: { ...TUNNEL, local: "192.168.1.99" } },
      through(2),
      {
        ip: ["link delete k8ts-vxlan", ...made, ...added(2)],
        bridge: [end("replace", 2, " permanent")],
      },
    ],
  ])("%s", (_, found, want, changes) => {
    expect(overlayChanges(found, want)).toEqual(changes);
  });
});
