/**
 * A node's network agent: kube-proxy, NetworkPolicies and DNS in one process in the node's place, with the
 * user system:kube-proxy.
 */
import { createHash } from "node:crypto";
import { kubeconfigFor, kubeconfigText } from "#pki";
import type { Place } from "../isolation/place.ts";
import { ip as ipCommand } from "../machine/ip.ts";
import { LEAN_ENV } from "../machine/processes.ts";
import type { NodeNames } from "../site/names.ts";
import { CLUSTER_DNS, CLUSTER_DOMAIN, type KubeletOptions, renewalMs, type StartedAgent } from "./kubelet.ts";

const USER = "system:kube-proxy";

type AgentOptions = Pick<
  KubeletOptions,
  | "apiBalancer"
  | "proxyMode"
  | "overlay"
  | "masqueradesOutside"
  | "podRanges"
  | "clusterDns"
  | "featureGates"
  | "dnsUpstreams"
  | "dnsHosts"
>;

/** `ips`: the node's, one or one of each family. */
export function networkAgentArgs(node: NodeNames, ips: readonly string[], options: AgentOptions = {}): string[] {
  const {
    apiBalancer,
    proxyMode,
    overlay,
    masqueradesOutside,
    podRanges,
    clusterDns = CLUSTER_DNS,
    featureGates,
    dnsUpstreams = [],
    dnsHosts = {},
  } = options;
  const flags = {
    kubeconfig: node.proxyKubeconfig,
    "hostname-override": node.name,
    "nodeport-addresses": ips.join(),
    "cluster-dns": clusterDns,
    "cluster-domain": CLUSTER_DOMAIN,
    // Without a way out, external names are refused at once instead of after a timeout.
    upstream: dnsUpstreams.join(),
    ...(apiBalancer !== undefined && {
      "api-balancer": apiBalancer.address,
      "api-balancer-members": apiBalancer.members.join(),
      "api-balancer-file": node.apiServersFile,
    }),
    ...(overlay !== undefined && { overlay, "masquerade-outside": String(masqueradesOutside === true) }),
    ...(proxyMode !== undefined && { "proxy-mode": proxyMode }),
    ...(podRanges !== undefined && { "cluster-cidr": podRanges.join() }),
    ...(featureGates !== undefined && { "feature-gates": featureGates }),
  };
  const hosts = Object.entries(dnsHosts).map(([name, addresses]) => `--dns-host=${name}=${addresses.join()}`);
  return ["proxy", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`), ...hosts];
}

/** Identifies a command line: if it differs, the process is replaced. */
export function networkAgentStart(node: NodeNames, ips: readonly string[], options: KubeletOptions): string {
  const { proxyCommand: command = options.command, serverUrl, authority, version } = options;
  const parts = [command, networkAgentArgs(node, ips, options), serverUrl, authority.certPem, version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export async function startNetworkAgent(
  place: Place,
  ips: readonly string[],
  options: KubeletOptions,
): Promise<StartedAgent> {
  const { files: node } = place;
  const { authority, serverUrl, proxyCommand: command = options.command, clusterDns = CLUSTER_DNS } = options;
  const [program = process.execPath, ...first] = command;
  const client = await authority.issue({ commonName: USER, usages: ["client"] });
  const config = kubeconfigFor({ name: node.name, server: serverUrl, caPem: authority.certPem, client });
  await place.write(node.proxyKubeconfig, kubeconfigText(config), 0o600);
  // Each node serves the cluster DNS itself.
  await ipCommand(
    ["address", "replace", `${clusterDns}/${clusterDns.includes(":") ? 128 : 32}`, "dev", "lo"],
    node.namespace,
  );
  const args = [...first, ...networkAgentArgs(node, ips, options)];
  const started = await place.start({ program, args, logFile: node.proxyLog, env: LEAN_ENV });
  return { process: started, renewMs: renewalMs(client.certPem) };
}
