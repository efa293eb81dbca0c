/** The VXLAN endpoint of a node. Its MAC address follows from the node's address, so nodes need not publish it. */
import { createHash } from "node:crypto";
import { parseIp } from "#api";

export const DEVICE = "k8ts-vxlan";
/** The VXLAN network identifier: any number that nobody else on these links uses. */
export const VNI = 0x6b38;
/** The registered port of VXLAN. */
export const PORT = 4789;

/** Bytes that the tunnel adds to a packet: Ethernet, VXLAN, UDP and the outer IP header. */
const OVERHEAD = { IPv4: 50, IPv6: 70 } as const;

export function tunnelMtu(linkMtu: number, outerAddress: string): number {
  return linkMtu - OVERHEAD[outerAddress.includes(":") ? "IPv6" : "IPv4"];
}

/** A locally administered unicast MAC address for the endpoint at this IP address. */
export function macOf(address: string): string {
  const bytes = parseIp(address)?.bytes ?? [];
  if (bytes.length === 4) return octets([0x0a, 0x6b, ...bytes]);
  return octets([0x0e, ...createHash("sha256").update(Uint8Array.from(bytes)).digest().subarray(0, 5)]);
}

function octets(bytes: readonly number[]): string {
  return bytes.map((each) => each.toString(16).padStart(2, "0")).join(":");
}
