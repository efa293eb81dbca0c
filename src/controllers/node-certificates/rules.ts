/**
 * Which certificates a node of a joined machine gets without an administrator: pure rules.
 *
 *     kubelet-serving          system:node:NAME, for its own name and for addresses that nobody else has
 *     kube-apiserver-client    system:kube-proxy, for the node's network agent
 *
 * 1. A node asks for itself only: the requester is the subject, or the network agent beside it.
 * 2. Addresses of other Nodes, of API servers and of the Service `kubernetes` are refused: whoever has a certificate
 *    for them could stand in for them.
 */
import { formatIp, parseIp } from "#api";
import { API_CLIENT, KUBELET_SERVING, type RequestedNames, type SigningRequest } from "../certificates/index.ts";

export const PROXY_USER = "system:kube-proxy";
const NODES = "system:nodes";
const NODE_PREFIX = "system:node:";

/** What has which addresses. */
export interface AddressFacts {
  /** By the Node's name. */
  readonly nodes: ReadonlyMap<string, readonly string[]>;
  /** API servers, and the Service `kubernetes`. */
  readonly servers: readonly string[];
  /** Nodes that an administrator has marked as control planes: their API servers have their addresses. */
  readonly controlPlanes: ReadonlySet<string>;
}

/** Why a request is left to an administrator; undefined: it is approved. Null: it is none of a node. */
export function whyNotApproved(
  { spec }: SigningRequest,
  names: RequestedNames,
  facts: AddressFacts,
): string | undefined | null {
  const { signerName, username = "", groups = [], usages = [] } = spec;
  if (!username.startsWith(NODE_PREFIX) || !groups.includes(NODES)) return null;
  const node = username.slice(NODE_PREFIX.length);
  if (signerName === API_CLIENT) {
    if (names.commonName !== PROXY_USER) return null;
    const isPlain = Object.entries(names).every(([key, value]) => key === "commonName" || value.length === 0);
    return isPlain && sameUsages(usages, "client auth") ? undefined : "it asks for more than kube-proxy has";
  }
  if (signerName !== KUBELET_SERVING) return null;
  if (names.commonName !== username) return "it is for another node";
  if (names.organizations.join() !== NODES) return "its organization is not system:nodes";
  if (!sameUsages(usages, "server auth")) return "it asks for other usages than those of a server";
  if (names.emailAddresses.length + names.uris.length > 0) return "it has names of other kinds than DNS and IP";
  const foreign = names.dnsNames.find((name) => name !== node);
  if (foreign !== undefined) return `${foreign} is not the node's name`;
  for (const address of names.ipAddresses.map(normalizedIp)) {
    const why = whoElseHas(address, node, facts);
    if (why !== undefined) return `${address} ${why}`;
  }
  return undefined;
}

function whoElseHas(
  address: string,
  node: string,
  { nodes, servers, controlPlanes }: AddressFacts,
): string | undefined {
  for (const [name, addresses] of nodes)
    if (name !== node && addresses.map(normalizedIp).includes(address)) return `is an address of node ${name}`;
  const isServer = servers.map(normalizedIp).includes(address);
  if (isServer && !controlPlanes.has(node)) return "is an address of the API server";
  return undefined;
}

function sameUsages(asked: readonly string[], purpose: string): boolean {
  const rest = asked.filter((usage) => usage !== "key encipherment");
  return rest.length === 2 && rest.includes(purpose) && rest.includes("digital signature");
}

/** Addresses are compared in one spelling. */
function normalizedIp(text: string): string {
  const ip = parseIp(text);
  return ip === undefined ? text : formatIp(ip);
}
