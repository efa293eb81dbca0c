/**
 * The addresses of a Node: those of the cloud, as far as `--node-ip` of its kubelet agrees. The kubelet passes it on
 * in an annotation.
 *
 * 1. An address that was asked for has to be one of the cloud's.
 * 2. It stands for its type: the cloud's other addresses of that type are left out.
 * 3. Without a host name from the cloud, the kubelet's stays.
 */
import { type core, formatIp, parseIp } from "#api";

export const PROVIDED_NODE_IP = "alpha.kubernetes.io/provided-node-ip";

export class NodeIpError extends Error {
  override readonly name = "NodeIpError";
}

/** Throws NodeIpError. */
export function addressesOf(node: core.Node, cloud: readonly core.NodeAddress[]): readonly core.NodeAddress[] {
  const asked = node.metadata.annotations?.[PROVIDED_NODE_IP] ?? "";
  const chosen = asked === "" ? cloud : preferred(asked, cloud);
  const plain = chosen.map(({ type, address }) => ({ type, address }));
  if (plain.some(({ type }) => type === "Hostname")) return plain;
  const names = (node.status?.addresses ?? []).filter(({ type }) => type === "Hostname");
  return [...plain, ...names.map(({ type, address }) => ({ type, address }))];
}

function preferred(asked: string, cloud: readonly core.NodeAddress[]): readonly core.NodeAddress[] {
  const found = asked.split(",").flatMap((text) => {
    const ip = parseIp(text.trim());
    if (ip === undefined) throw new NodeIpError(`failed to parse node IP "${asked}"`);
    const matching = cloud.filter(({ address }) => isSame(address, formatIp(ip)));
    if (matching.length === 0)
      throw new NodeIpError(`failed to get node address from cloud provider that matches ip: ${formatIp(ip)}`);
    return matching;
  });
  const types = new Set(found.map(({ type }) => type));
  return [...found, ...cloud.filter(({ type }) => !types.has(type))];
}

function isSame(address: string, ip: string): boolean {
  const parsed = parseIp(address);
  return parsed !== undefined && formatIp(parsed) === ip;
}
