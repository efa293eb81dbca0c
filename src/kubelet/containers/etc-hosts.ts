/** The /etc/hosts that the kubelet writes for a Pod. */
import type { core } from "#api";
import { podHostname } from "./hostname.ts";

const LOOPBACK = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::0\tip6-localnet",
  "fe00::0\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

/** `nodeHosts`: the node's own file, for Pods on the host network. */
export function etcHosts(
  pod: core.Pod,
  podIps: readonly string[],
  { clusterDomain, nodeHosts }: { readonly clusterDomain: string; readonly nodeHosts: string },
): string {
  const aliases = aliasLines(pod.spec?.hostAliases ?? []);
  if (pod.spec?.hostNetwork === true) return `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${aliases}`;
  const { hostname, domain } = podHostname(pod, clusterDomain);
  const names = domain === "" ? hostname : `${hostname}.${domain}\t${hostname}`;
  const own = podIps.map((ip) => `${ip}\t${names}`);
  return `${["# Kubernetes-managed hosts file.", ...LOOPBACK, ...own].join("\n")}\n${aliases}`;
}

function aliasLines(aliases: readonly core.HostAlias[]): string {
  if (aliases.length === 0) return "";
  const lines = aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join("\t"));
  return `\n# Entries added by HostAliases.\n${lines.join("\n")}\n`;
}
