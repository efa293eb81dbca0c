/**
 * Two models that must agree: an interpreter of the compiled rules, and the policies evaluated from the API objects.
 */
import { contains, type Labels, matcherOfSelector, type networking, parseCidr, parseIp } from "#api";
import type { PolicyPod } from "../pods.ts";
import type { PolicySnapshot } from "../script.ts";

export interface Packet {
  readonly from: string;
  readonly to: string;
  readonly protocol: "tcp" | "udp" | "sctp";
  readonly port: number;
}

/** Whether a new connection passes the table. */
export function passes({ chains, sets, ingress, egress, own }: PolicySnapshot, packet: Packet): boolean {
  const { from, to, protocol, port } = packet;
  if (own.has(`${from} . ${to}`)) return true;
  const survives = (chain: string | undefined) => {
    if (chain === undefined) return true;
    for (const rule of chains.get(chain) ?? []) {
      if (rule === "drop") return false;
      const matched = /^(.*?) ?return$/.exec(rule);
      if (matched === null) throw new Error(`the model cannot read ${rule}`);
      if (holds(matched[1] ?? "")) return true;
    }
    return true;
  };
  const holds = (condition: string): boolean => {
    let rest = condition.trim();
    const take = (pattern: RegExp, test: (...groups: string[]) => boolean): boolean | undefined => {
      const found = pattern.exec(rest);
      if (found === null) return undefined;
      rest = rest.slice(found[0].length).trim();
      return test(...found.slice(1).map((group) => group ?? ""));
    };
    const side = (word: string) => (word === "saddr" ? from : to);
    const inside = (address: string, cidr: string) => {
      const [range, ip] = [parseCidr(cidr.includes("/") ? cidr : `${cidr}/32`), parseIp(address)];
      return range !== undefined && ip !== undefined && contains(range, ip);
    };
    while (rest !== "") {
      const result =
        take(
          /^ip daddr \. meta l4proto \. th dport @(\S+)/,
          (set) => sets.get(set)?.has(`${to} . ${protocol} . ${port}`) === true,
        ) ??
        take(/^ip (saddr|daddr) @(\S+)/, (word, set) => sets.get(set)?.has(side(word)) === true) ??
        take(
          /^ip (saddr|daddr) != \{ ([^}]*) \}/,
          (word, list) => !list.split(", ").some((cidr) => inside(side(word), cidr)),
        ) ??
        take(/^ip (saddr|daddr) ([\d./]+)/, (word, cidr) => inside(side(word), cidr)) ??
        take(/^meta l4proto (\w+)/, (name) => name === protocol) ??
        take(
          /^(tcp|udp|sctp) dport \{ ([^}]*) \}/,
          (name, list) => name === protocol && list.split(", ").some(portFits),
        );
      if (result === undefined) throw new Error(`the model cannot read ${rest}`);
      if (!result) return false;
    }
    return true;
  };
  const portFits = (words: string) => {
    const [low = 0, high = low] = words.split("-").map(Number);
    return port >= low && port <= high;
  };
  return survives(egress.get(from)) && survives(ingress.get(to));
}

/** As documented, in the simplest form. */
export function allows(
  policies: readonly networking.NetworkPolicy[],
  pods: readonly PolicyPod[],
  namespaces: ReadonlyMap<string, Labels>,
  packet: Packet,
): boolean {
  const podAt = (address: string) => pods.find(({ addresses }) => addresses.includes(address));
  const [sender, receiver] = [podAt(packet.from), podAt(packet.to)];
  if (sender !== undefined && sender === receiver) return true;
  const permitted = (pod: PolicyPod | undefined, direction: "Ingress" | "Egress"): boolean => {
    if (pod === undefined) return true;
    const isolating = policies.filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.namespace &&
        matcherOfSelector(spec?.podSelector ?? {}).matches(pod.labels) &&
        (spec?.policyTypes ?? (spec?.egress === undefined ? ["Ingress"] : ["Ingress", "Egress"])).includes(direction),
    );
    if (isolating.length === 0) return true;
    const other =
      direction === "Ingress" ? { pod: sender, address: packet.from } : { pod: receiver, address: packet.to };
    return isolating.some(({ metadata, spec }) =>
      (direction === "Ingress" ? (spec?.ingress ?? []) : (spec?.egress ?? [])).some((rule) => {
        const peers = "from" in rule ? rule.from : "to" in rule ? rule.to : undefined;
        const peerFits =
          (peers ?? []).length === 0 || (peers ?? []).some((peer) => fits(peer, metadata.namespace ?? "", other));
        const portFits = (rule.ports ?? []).length === 0 || (rule.ports ?? []).some((port) => isPort(port));
        return peerFits && portFits;
      }),
    );
  };
  const fits = (
    peer: networking.NetworkPolicyPeer,
    home: string,
    other: { pod: PolicyPod | undefined; address: string },
  ): boolean => {
    if (peer.ipBlock !== undefined) {
      const inside = (cidr: string) => {
        const [range, ip] = [parseCidr(cidr), parseIp(other.address)];
        return range !== undefined && ip !== undefined && contains(range, ip);
      };
      return inside(peer.ipBlock.cidr) && !(peer.ipBlock.except ?? []).some(inside);
    }
    const { pod } = other;
    if (pod === undefined) return false;
    const isHome =
      peer.namespaceSelector === undefined
        ? pod.namespace === home
        : matcherOfSelector(peer.namespaceSelector).matches(namespaces.get(pod.namespace));
    return isHome && matcherOfSelector(peer.podSelector ?? {}).matches(pod.labels);
  };
  const isPort = ({ port, endPort, protocol = "TCP" }: networking.NetworkPolicyPort): boolean => {
    if (protocol.toLowerCase() !== packet.protocol) return false;
    if (port === undefined) return true;
    if (typeof port === "number") return packet.port >= port && packet.port <= (endPort ?? port);
    return (
      receiver?.ports.some((each) => each.name === port && each.protocol === protocol && each.port === packet.port) ===
      true
    );
  };
  return permitted(sender, "Egress") && permitted(receiver, "Ingress");
}
