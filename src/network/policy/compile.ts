/**
 * Compiles NetworkPolicies into rules for the Pods of one node.
 *
 * 1. A Pod that a policy selects for a direction is isolated in that direction: traffic that no rule of these policies
 *    allows is dropped.
 * 2. Pods with the same rules share a chain. Its name is a hash of its rules, so a chain never changes.
 * 3. Rules refer to groups of Pods, which change without the rules.
 */
import { createHash } from "node:crypto";
import { matcherOfSelector, type networking } from "#api";
import type { Family } from "../kernel/ip-family.ts";
import type { Group, GroupSelector, PolicyGroups } from "./groups.ts";
import type { PolicyPod } from "./pods.ts";

type NetworkPolicy = networking.NetworkPolicy;
type Peer = networking.NetworkPolicyPeer;
type Port = networking.NetworkPolicyPort;
type Direction = "ingress" | "egress";

export interface PolicyRules {
  /** Rules by chain name. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** By set name. */
  readonly groups: ReadonlyMap<string, Group>;
  /** The chain of each isolated address. */
  readonly ingress: ReadonlyMap<string, string>;
  readonly egress: ReadonlyMap<string, string>;
  /** Addresses of this node's Pods. */
  readonly local: ReadonlySet<string>;
}

export function compilePolicies(
  policies: readonly NetworkPolicy[],
  groups: PolicyGroups,
  nodeName: string,
  family: Family,
): PolicyRules {
  const compiler = new Compiler(groups, family);
  const bySpace = new Map<string, readonly Selecting[]>();
  for (const policy of [...policies].sort(byName)) {
    const namespace = policy.metadata.namespace ?? "";
    bySpace.set(namespace, [...(bySpace.get(namespace) ?? []), selecting(policy)]);
  }
  for (const pod of groups.pods()) {
    if (pod.nodeName !== nodeName) continue;
    const applying = (bySpace.get(pod.namespace) ?? []).filter(({ matches }) => matches(pod));
    compiler.add(
      pod,
      applying.map(({ policy }) => policy),
    );
  }
  groups.keepOnly(new Set([...compiler.groups.values()].map(({ key }) => key)));
  return compiler;
}

const ANY_POD: Peer = { namespaceSelector: {} };

interface Selecting {
  readonly policy: NetworkPolicy;
  matches(pod: PolicyPod): boolean;
}

function selecting(policy: NetworkPolicy): Selecting {
  const matcher = matcherOfSelector(policy.spec?.podSelector ?? {});
  return { policy, matches: ({ labels }) => matcher.matches(labels) };
}

class Compiler implements PolicyRules {
  readonly chains = new Map<string, readonly string[]>();
  readonly groups = new Map<string, Group>();
  readonly ingress = new Map<string, string>();
  readonly egress = new Map<string, string>();
  readonly local = new Set<string>();
  readonly #all: PolicyGroups;
  readonly #family: Family;

  constructor(all: PolicyGroups, family: Family) {
    this.#all = all;
    this.#family = family;
  }

  add(pod: PolicyPod, policies: readonly NetworkPolicy[]): void {
    const addresses = pod.addresses.filter((address) => this.#isOurs(address));
    for (const address of addresses) this.local.add(address);
    for (const direction of ["ingress", "egress"] as const) {
      const isolating = policies.filter((policy) => typesOf(policy).includes(direction));
      if (isolating.length === 0) continue;
      const chain = this.#chain(direction, pod, isolating);
      for (const address of addresses) this[direction].set(address, chain);
    }
  }

  #chain(direction: Direction, pod: PolicyPod, policies: readonly NetworkPolicy[]): string {
    const allowed = policies.flatMap((policy) =>
      (policy.spec?.[direction] ?? []).flatMap((rule) => {
        const peers =
          direction === "ingress"
            ? (rule as networking.NetworkPolicyIngressRule).from
            : (rule as networking.NetworkPolicyEgressRule).to;
        return this.#lines(direction, pod, policy.metadata.namespace ?? "", peers ?? [], rule.ports ?? []);
      }),
    );
    const rules = [...new Set(allowed), "drop"];
    const name = `${direction === "ingress" ? "in" : "out"}-${hashOf(rules.join("\n"))}`;
    this.chains.set(name, rules);
    return name;
  }

  /** What one rule of a policy allows: from each of its peers to each of its ports. */
  #lines(
    direction: Direction,
    pod: PolicyPod,
    namespace: string,
    peers: readonly Peer[],
    ports: readonly Port[],
  ): string[] {
    const numbered = portConditions(ports, direction === "ingress" ? pod.ports : []);
    const lines = this.#peerConditions(direction, namespace, peers).flatMap((peer) =>
      numbered.map((port) => `${peer} ${port} return`.trim()),
    );
    // A port name in an egress rule refers to ports of the receiver, not of this Pod.
    const named = direction === "egress" ? ports.filter(({ port }) => typeof port === "string") : [];
    const receivers: readonly Peer[] = peers.length === 0 ? [ANY_POD] : peers;
    for (const { port, protocol = "TCP" } of named) {
      for (const peer of receivers) {
        const isBlock = peer.ipBlock !== undefined;
        const selector = groupSelector(isBlock ? ANY_POD : peer, namespace);
        const set = this.#set({ ...selector, port: { name: String(port), protocol } });
        const blocks = isBlock ? this.#peerConditions(direction, namespace, [peer]) : [""];
        lines.push(
          ...blocks.map((block) => `${block} ${this.#ip} daddr . meta l4proto . th dport @${set} return`.trim()),
        );
      }
    }
    return lines;
  }

  #peerConditions(direction: Direction, namespace: string, peers: readonly Peer[]): string[] {
    if (peers.length === 0) return [""];
    const other = `${this.#ip} ${direction === "ingress" ? "saddr" : "daddr"}`;
    return peers.flatMap((peer) => {
      const { ipBlock } = peer;
      if (ipBlock === undefined) return [`${other} @${this.#set(groupSelector(peer, namespace))}`];
      if (!this.#isOurs(ipBlock.cidr)) return [];
      const except = (ipBlock.except ?? []).filter((cidr) => this.#isOurs(cidr));
      return [`${other} ${ipBlock.cidr}${except.length === 0 ? "" : ` ${other} != { ${except.join(", ")} }`}`];
    });
  }

  #set(selector: GroupSelector): string {
    const group = this.#all.group(selector);
    const name = `${selector.port === undefined ? "pods" : "ports"}-${hashOf(group.key)}`;
    this.groups.set(name, group);
    return name;
  }

  get #ip(): "ip" | "ip6" {
    return this.#family === "IPv4" ? "ip" : "ip6";
  }

  #isOurs(address: string): boolean {
    return address.includes(":") === (this.#family === "IPv6");
  }
}

/** Without policyTypes a policy applies to ingress, and to egress if it has egress rules. */
function typesOf({ spec }: NetworkPolicy): readonly Direction[] {
  const types = spec?.policyTypes ?? [];
  if (types.length > 0) return types.map((type) => (type === "Ingress" ? "ingress" : "egress"));
  return (spec?.egress ?? []).length > 0 ? ["ingress", "egress"] : ["ingress"];
}

function groupSelector({ namespaceSelector, podSelector }: Peer, namespace: string): GroupSelector {
  return {
    namespace: namespaceSelector === undefined ? namespace : undefined,
    namespaceSelector,
    podSelector,
  };
}

/** Alternative conditions; an empty one always holds. `own`: the Pod's ports, to resolve port names. */
function portConditions(ports: readonly Port[], own: PolicyPod["ports"]): string[] {
  if (ports.length === 0) return [""];
  const numbers = new Map<string, Set<string>>();
  for (const { port, endPort, protocol = "TCP" } of ports) {
    const words = numbers.get(protocol) ?? new Set<string>();
    numbers.set(protocol, words);
    if (port === undefined) words.add("");
    else if (typeof port === "number") words.add(endPort === undefined ? String(port) : `${port}-${endPort}`);
    else for (const each of own) if (each.name === port && each.protocol === protocol) words.add(String(each.port));
  }
  return [...numbers].flatMap(([protocol, words]) => {
    const name = protocol.toLowerCase();
    if (words.has("")) return [`meta l4proto ${name}`];
    return words.size === 0 ? [] : [`${name} dport { ${[...words].join(", ")} }`];
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function byName(a: NetworkPolicy, b: NetworkPolicy): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
