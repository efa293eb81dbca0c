/**
 * A virtual address on a link of this machine, in the kernel's hands.
 *
 *     place ──► ip address replace … valid_lft N       announce ──► gratuitous ARP, unsolicited neighbour advertisement
 *
 * 1. The kernel takes the address away by itself after its lifetime: a process that was killed or stands still holds it
 *    no longer.
 * 2. Nothing that this machine sends has it as its source by default: scope link, and a preferred lifetime of 0.
 * 3. The kernel announces it. IPv4: it resolves the address itself, and for an address of scope link it asks in that
 *    address' own name. IPv6: `ndisc_notify`, at each time that the address comes.
 */
import { isIPv6 } from "node:net";
import type { Program } from "../kernel/program.ts";

export interface LinkAddress {
  readonly address: string;
  readonly link: string;
  readonly run: Program;
}

/** Adds the address, or prolongs it. Seconds are whole. */
export async function place({ address, link, run }: LinkAddress, seconds: number, signal: AbortSignal): Promise<void> {
  if (isIPv6(address)) await announcing({ address, link, run }, signal);
  const lifetime = ["valid_lft", `${seconds}`, "preferred_lft", isIPv6(address) ? "0" : `${seconds}`];
  const scope = isIPv6(address) ? [] : ["scope", "link"];
  await run("ip", ["address", "replace", whole(address), "dev", link, ...scope, ...lifetime], "", signal);
}

/** Tells the neighbours that the address is here now. It is there. */
export async function announce({ address, link, run }: LinkAddress, signal: AbortSignal): Promise<void> {
  if (isIPv6(address)) return;
  // Where the address was before: the kernel would not ask for what it knows.
  await run("ip", ["neighbour", "flush", "to", address, "dev", link, "nud", "all"], "", signal);
  // It asks three times, a second apart, unless it has an answer: nobody else has the address.
  await run("ip", ["neighbour", "replace", address, "dev", link, "use"], "", signal);
}

/** What is not there need not be removed, and may go by itself at any moment. */
export async function remove({ address, link, run }: LinkAddress, signal: AbortSignal): Promise<void> {
  const isThere = async () => (await linkOf(address, run, signal)) === link;
  if (!(await isThere())) return;
  try {
    await run("ip", ["address", "del", whole(address), "dev", link], "", signal);
  } catch (error) {
    if (await isThere()) throw error;
  }
}

/** The link that has an address of this machine. Undefined: none has. */
export async function linkOf(address: string, run: Program, signal: AbortSignal): Promise<string | undefined> {
  const found: unknown = JSON.parse(await run("ip", ["-json", "address", "show", "to", whole(address)], "", signal));
  const names = Array.isArray(found) ? found.flatMap(({ ifname }: { ifname?: string }) => ifname ?? []) : [];
  return names[0];
}

/** Detection of duplicates would take a second, and the Lease says already who has the address. */
async function announcing({ link, run }: LinkAddress, signal: AbortSignal): Promise<void> {
  const folder = `/proc/sys/net/ipv6/conf/${link}`;
  await run("tee", [`${folder}/ndisc_notify`], "1", signal);
  await run("tee", [`${folder}/accept_dad`], "0", signal);
}

function whole(address: string): string {
  return `${address}/${isIPv6(address) ? 128 : 32}`;
}
