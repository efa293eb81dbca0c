/**
 * The way out of a cluster: nodes and Pods reach what this machine reaches, with the machine's address.
 *
 *     ensureWayOut ──► forwarding ──► table of nftables ──► rules in firewalls of others
 *     removeWayOut ──► all of it as it was
 *
 * Idempotent. What somebody else has removed, such as by flushing all rules, is made anew.
 */
import type { Clock } from "#base";
import { run } from "../machine/command.ts";
import type { SiteNames } from "../site/names.ts";
import type { SiteNetwork } from "../site/site-network.ts";
import { firewallScript, tableOf, type WayOut } from "./firewall.ts";
import { claimForwarding, type ForwardedFamily, releaseForwarding } from "./forwarding.ts";
import { leaveOtherFirewalls, passOtherFirewalls } from "./other-firewalls.ts";

/** Returns what is in the way, as sentences. */
export async function ensureWayOut(
  site: SiteNames,
  network: SiteNetwork,
  wanted: Omit<WayOut, "unforwarded">,
  clock: Clock,
): Promise<readonly string[]> {
  const families: ForwardedFamily[] = network.machineIp6 === undefined ? ["ipv4"] : ["ipv4", "ipv6"];
  // The rules come first: nothing is forwarded that they would refuse.
  await run("nft", ["-f", "-"], { input: firewallScript(site, network, { ...wanted, unforwarded: [] }) });
  const unforwarded = await claimForwarding(site, families, clock);
  await run("nft", ["-f", "-"], { input: firewallScript(site, network, { ...wanted, unforwarded }) });
  return passOtherFirewalls(site);
}

export async function hasWayOut(site: SiteNames): Promise<boolean> {
  return run("nft", ["list", "chain", ...tableOf(site).split(" "), "postrouting"]).then(
    () => true,
    () => false,
  );
}

/** Also what a crash has left. */
export async function removeWayOut(site: SiteNames, clock: Clock): Promise<void> {
  await leaveOtherFirewalls(site);
  const table = tableOf(site);
  if (await hasWayOut(site)) await run("nft", ["-f", "-"], { input: `delete table ${table}\n` });
  await releaseForwarding(site, clock);
}
