/** An interpreter of the proxy's iptables rules: what may happen to a new connection. */
import { contains, parseCidr, parseIp } from "#api";

export interface Packet {
  readonly from: string;
  readonly to: string;
  readonly protocol: string;
  readonly port: number;
  /** From a process of the node itself. */
  readonly isLocal: boolean;
}

/** `10.244.0.1:80` if it is sent there; several if the choice is random. */
export interface Fate {
  readonly sentTo: readonly string[];
  readonly isMasqueraded: boolean;
  readonly verdict: "accept" | "reject" | "drop";
}

export type Chains = ReadonlyMap<string, readonly string[]>;

export function fateOf(chains: Chains, packet: Packet): Fate {
  const sentTo = new Set<string>();
  const state = { isMasqueraded: false };
  walk(chains, "K8TS-SERVICES", packet, (target, rule) => {
    if (target === "MARK") state.isMasqueraded = true;
    if (target === "DNAT") sentTo.add(after(rule, "--to-destination") ?? "");
    // With a probability, the next rule may apply, too.
    return target === "DNAT" && !rule.includes("--probability");
  });
  if (sentTo.size > 0) return { sentTo: [...sentTo].sort(), isMasqueraded: state.isMasqueraded, verdict: "accept" };
  let verdict: Fate["verdict"] = "accept";
  walk(chains, "K8TS-FILTER", packet, (target) => {
    if (target === "DROP") verdict = "drop";
    if (target === "REJECT") verdict = "reject";
    return verdict !== "accept";
  });
  return { sentTo: [], isMasqueraded: false, verdict };
}

/** Returns whether a rule ended the walk. `reach`: whether this target ends it. */
function walk(
  chains: Chains,
  name: string,
  packet: Packet,
  reach: (target: string, rule: readonly string[]) => boolean,
): boolean {
  for (const text of chains.get(name) ?? []) {
    const rule = text.split(" ");
    if (!matches(rule, packet)) continue;
    const target = after(rule, "-j") ?? "";
    if (target === "RETURN") return false;
    if (chains.has(target) ? walk(chains, target, packet, reach) : reach(target, rule)) return true;
  }
  return false;
}

function matches(rule: readonly string[], { from, to, protocol, port, isLocal }: Packet): boolean {
  const [source, destination] = [after(rule, "-s"), after(rule, "-d")];
  if (source !== undefined && !isIn(from, source)) return false;
  if (destination !== undefined && !isIn(to, destination)) return false;
  if ((after(rule, "-p") ?? protocol) !== protocol) return false;
  if (Number(after(rule, "--dport") ?? port) !== port) return false;
  return after(rule, "--src-type") !== "LOCAL" || isLocal;
}

export function isIn(address: string, range: string): boolean {
  const [cidr, ip] = [parseCidr(range), parseIp(address)];
  if (cidr === undefined || ip === undefined) throw new Error(`${address} in ${range} cannot be read`);
  return contains(cidr, ip);
}

function after(rule: readonly string[], flag: string): string | undefined {
  const at = rule.indexOf(flag);
  return at === -1 ? undefined : rule[at + 1];
}

/** Does the same as iptables-restore --noflush. The chains of both tables are in one map: their names differ. */
export function replay(chains: Map<string, string[]>, script: string): void {
  for (const line of script.split("\n")) {
    const [verb = "", name = "", ...rule] = line.split(" ");
    if (verb.startsWith(":")) chains.set(verb.slice(1), []);
    const rules = chains.get(name);
    if (verb === "-A") rules?.push(rule.join(" "));
    if (verb === "-X") chains.delete(name);
    if (verb !== "-D") continue;
    const at = rules?.indexOf(rule.join(" ")) ?? -1;
    if (at === -1) throw new Error(`there is no ${line}`);
    rules?.splice(at, 1);
  }
}
