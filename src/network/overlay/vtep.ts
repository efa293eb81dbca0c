/** What each node's end of the tunnel is called by others. It follows from the node's address alone, so nodes need not tell each other. */
import { createHash } from "node:crypto";
import { parseIp } from "#api";

export const DEVICE = "k8ts-vxlan";
/** Of the network that all ends share; any number would do that others on these links do not use. */
export const VNI = 0x6b38;
/** The port that is registered for VXLAN. */
export const PORT = 4789;

/** What the tunnel puts in front of a packet: Ethernet, VXLAN, UDP, and the outer header. */
const OVERHEAD = { IPv4: 50, IPv6: 70 } as const;

export function tunnelMtu(linkMtu: number, outerAddress: string): number {
  return linkMtu - OVERHEAD[outerAddress.includes(":") ? "IPv6" : "IPv4"];
}

/** Of an end at this address: one that is administered locally, and no group's. */
export function macOf(address: string): string {
  const bytes = parseIp(address)?.bytes ?? [];
  if (bytes.length === 4) return octets([0x0a, 0x6b, ...bytes]);
  return octets([0x0e, ...createHash("sha256").update(Uint8Array.from(bytes)).digest().subarray(0, 5)]);
}

function octets(bytes: readonly number[]): string {
  return bytes.map((each) => each.toString(16).padStart(2, "0")).join(":");
}
