/**
 * Plans the routes from a node to the Pods of all others. Pure.
 *
 * 1. A node on the same link is reached directly: its pod CIDR is routed via its address on that link, which has to be
 *    of the same IP family.
 * 2. Any other node is reached through VXLAN: its pod CIDR is routed via the first address of the CIDR, which no Pod
 *    has, on the VXLAN device. A static neighbour entry and a static entry of the forwarding database say which node
 *    that is: nothing is learned.
 * 3. The device exists while a node is behind it. Both ends use the same IP family: IPv4 where a node has it.
 */
import { type Cidr, contains, formatIp, parseCidr, parseIp } from "#api";
import { DEVICE, macOf, tunnelMtu } from "./vtep.ts";

export type OverlayMode = "auto" | "vxlan";

/** What routes to a node's Pods depend on. */
export interface Peer {
  readonly name: string;
  /** InternalIP addresses. */
  readonly addresses: readonly string[];
  readonly podCidrs: readonly string[];
}

export interface Link {
  readonly name: string;
  readonly mtu: number;
  /** In CIDR notation. */
  readonly addresses: readonly string[];
}

export interface PodRoute {
  readonly cidr: string;
  readonly via: string;
  readonly device: string;
}

export interface Tunnel {
  readonly local: string;
  readonly mac: string;
  readonly mtu: number;
  /** The first address of each of the node's pod CIDRs: the source address of the node itself. */
  readonly addresses: readonly string[];
}

/** Wanted, or read from the kernel. */
export interface Overlay {
  readonly routes: readonly PodRoute[];
  readonly tunnel?: Tunnel;
  readonly neighbours: readonly { readonly address: string; readonly mac: string }[];
  readonly ends: readonly { readonly mac: string; readonly address: string }[];
}

export interface OverlayPlan extends Overlay {
  /** Nodes whose Pods cannot be reached, and why. */
  readonly problems: readonly string[];
}

export function planOverlay(
  self: Peer,
  peers: readonly Peer[],
  links: readonly Link[],
  mode: OverlayMode = "auto",
): OverlayPlan {
  const others = peers.filter(({ name }) => name !== self.name).sort((a, b) => (a.name < b.name ? -1 : 1));
  const outer = self.addresses.find((address) => !isV6(address)) ?? self.addresses[0];
  const outerLink = links.find((link) => has(link, outer));
  const plan = {
    routes: [] as PodRoute[],
    neighbours: [] as Overlay["neighbours"][number][],
    ends: [] as Overlay["ends"][number][],
    problems: [] as string[],
  };
  for (const peer of others) {
    const behindTunnel: Cidr[] = [];
    for (const text of peer.podCidrs) {
      const cidr = parseCidr(text);
      if (cidr === undefined) {
        plan.problems.push(`${peer.name}: ${text} is not a CIDR`);
        continue;
      }
      const direct = mode === "auto" ? onLink(self, peer, links, isV6(text)) : undefined;
      if (direct !== undefined) plan.routes.push({ cidr: canonical(cidr), ...direct });
      else behindTunnel.push(cidr);
    }
    if (behindTunnel.length === 0) continue;
    const end = peer.addresses.find((address) => outer !== undefined && isV6(address) === isV6(outer));
    if (end === undefined || outerLink === undefined) {
      const why =
        outerLink === undefined
          ? "this node's own address is not on any of its links"
          : `it has no address of the IP family of ${outer}`;
      plan.problems.push(`${peer.name}: ${why}`);
      continue;
    }
    const mac = macOf(end);
    plan.ends.push({ mac, address: end });
    for (const cidr of behindTunnel) {
      const via = firstOf(cidr);
      plan.routes.push({ cidr: canonical(cidr), via, device: DEVICE });
      plan.neighbours.push({ address: via, mac });
    }
  }
  if (plan.ends.length === 0 || outer === undefined || outerLink === undefined) return plan;
  const own = self.podCidrs.flatMap((text) => parseCidr(text) ?? []).map(firstOf);
  const tunnel = { local: outer, mac: macOf(outer), mtu: tunnelMtu(outerLink.mtu, outer), addresses: own };
  return { ...plan, tunnel };
}

/** The route to a peer on the link of this node's own address. */
function onLink(self: Peer, peer: Peer, links: readonly Link[], v6: boolean): Omit<PodRoute, "cidr"> | undefined {
  for (const address of self.addresses.filter((each) => isV6(each) === v6)) {
    const link = links.find((each) => has(each, address));
    const subnets = (link?.addresses ?? []).flatMap((each) => parseCidr(each) ?? []);
    const via = peer.addresses.find((each) => {
      const ip = parseIp(each);
      return ip !== undefined && isV6(each) === v6 && subnets.some((subnet) => contains(subnet, ip));
    });
    if (link !== undefined && via !== undefined) return { via, device: link.name };
  }
  return undefined;
}

function has({ addresses }: Link, address: string | undefined): boolean {
  const wanted = parseIp(address ?? "");
  if (wanted === undefined) return false;
  return addresses.some((each) => {
    const known = parseCidr(each);
    return known !== undefined && formatIp(known) === formatIp(wanted);
  });
}

function firstOf({ bytes, prefixLength }: Cidr): string {
  return formatIp({ bytes: masked(bytes, prefixLength) });
}

/** As `ip` prints it, so that present routes compare equal. */
function canonical(cidr: Cidr): string {
  return `${firstOf(cidr)}/${cidr.prefixLength}`;
}

function masked(bytes: readonly number[], length: number): number[] {
  return bytes.map((byte, at) => byte & (0xff << Math.max(0, 8 - Math.max(0, length - at * 8))) & 0xff);
}

export function isV6(text: string): boolean {
  return text.includes(":");
}
