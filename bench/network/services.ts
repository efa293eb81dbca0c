/** Services as a proxy tells the kernel of them: 10,000 with 5 endpoints each. */
import { silentLogger } from "#base";
import { type Program, runProgram } from "../../src/network/kernel/program.ts";
import { Iptables } from "../../src/network/proxy/iptables/apply.ts";
import { Nftables } from "../../src/network/proxy/nftables/apply.ts";
import type { Rules } from "../../src/network/proxy/run-proxy.ts";
import type { VirtualAddress } from "../../src/network/proxy/virtual-addresses.ts";

export const SERVICES = 10_000;
export const ENDPOINTS = 5;
export const MODES = ["nftables", "iptables"] as const;
export type Mode = (typeof MODES)[number];

export function rulesOf(mode: Mode, run: Program): Rules {
  const options = { families: ["IPv4"], podCidrs: ["10.244.0.0/16"], log: silentLogger, run } as const;
  return mode === "nftables" ? new Nftables(options) : new Iptables(options);
}

/** Programs in a namespace. */
export function programIn(namespace: string): Program {
  return (command, args, input, signal) =>
    runProgram("nsenter", [`--net=/run/netns/${namespace}`, command, ...args], input, signal);
}

export function services(): Map<string, readonly VirtualAddress[]> {
  return new Map(Array.from({ length: SERVICES }, (_, at) => [`s${at}`, [virtualAddress(at, 0)]]));
}

/** `generation`: which endpoints it has. */
export function virtualAddress(at: number, generation: number): VirtualAddress {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, slot) => {
    const number = at * ENDPOINTS + slot;
    return { address: `10.244.${(number >> 8) & 255}.${number & 255}`, port: 8080 + generation, isLocal: slot === 0 };
  });
  const address = `10.96.${at >> 8}.${at & 255}`;
  const where = { family: "IPv4", address, protocol: "tcp", port: 80 } as const;
  return { ...where, endpoints, masquerade: "outsiders", whenEmpty: "reject" };
}
