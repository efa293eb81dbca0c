/** A Pod's resolv.conf, by its dnsPolicy and dnsConfig. */
import type { core } from "#api";
import type { NodeFacts, Resolver } from "./node-facts.ts";

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const NONE: Resolver = { servers: [], searches: [], options: [] };

type Facts = Pick<NodeFacts, "clusterDns" | "clusterDomain" | "resolver">;

export function podResolver(pod: core.Pod, facts: Facts): Resolver {
  const base = policyResolver(pod, facts);
  const { nameservers = [], searches = [], options = [] } = pod.spec?.dnsConfig ?? {};
  const merged = {
    servers: unique([...base.servers, ...nameservers]),
    searches: unique([...base.searches, ...searches]),
    options: mergedOptions(base.options, options),
  };
  return { ...merged, servers: merged.servers.slice(0, MAX_SERVERS), searches: fitting(merged.searches) };
}

function policyResolver({ metadata, spec }: core.Pod, { clusterDns, clusterDomain, resolver }: Facts): Resolver {
  const policy = spec?.dnsPolicy ?? "ClusterFirst";
  if (policy === "None") return NONE;
  if (policy === "Default" || (policy === "ClusterFirst" && spec?.hostNetwork === true) || clusterDns.length === 0)
    return resolver;
  const own = [`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return { servers: clusterDns, searches: [...own, ...resolver.searches], options: ["ndots:5"] };
}

/** An option of the Pod replaces the one with the same name. */
function mergedOptions(base: readonly string[], own: readonly core.PodDNSConfigOption[]): string[] {
  const byName = new Map(base.map((option) => [option.split(":", 1)[0] ?? "", option]));
  for (const { name = "", value } of own)
    byName.set(name, value === undefined || value === "" ? name : `${name}:${value}`);
  return [...byName.values()];
}

function fitting(searches: readonly string[]): string[] {
  const kept = searches.slice(0, MAX_SEARCHES);
  while (kept.join(" ").length > MAX_SEARCH_CHARACTERS) kept.pop();
  return kept;
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}

/** Parses the text of a resolv.conf. */
export function parseResolver(text: string): Resolver {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split("\n")) {
    const [word, ...rest] = line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/);
    if (word === "nameserver" && rest[0] !== undefined) servers.push(rest[0]);
    if (word === "search") searches = rest.map((each) => (each === "." ? each : each.replace(/\.$/, "")));
    if (word === "options") options = rest;
  }
  return { servers, searches, options };
}
