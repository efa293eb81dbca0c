/**
 * A node's network agent: kube-proxy, NetworkPolicies and DNS in one process in the node's network namespace, with the
 * user system:kube-proxy.
 */
import { createHash } from "node:crypto";
import { kubeconfigFor, writeKubeconfig } from "#pki";
import { ip as ipCommand } from "../machine/ip.ts";
import { LEAN_ENV, type ProcessId, startDaemon } from "../machine/processes.ts";
import { type NodeNames, namespacePath } from "../site/names.ts";
import { CLUSTER_DNS, CLUSTER_DOMAIN, type KubeletOptions } from "./kubelet.ts";

const USER = "system:kube-proxy";

type AgentOptions = Pick<KubeletOptions, "proxyMode" | "podRanges" | "clusterDns" | "featureGates">;

/** `ips`: the node's, one or one of each family. */
export function networkAgentArgs(node: NodeNames, ips: readonly string[], options: AgentOptions = {}): string[] {
  const { proxyMode, podRanges, clusterDns = CLUSTER_DNS, featureGates } = options;
  const flags = {
    kubeconfig: node.proxyKubeconfig,
    "hostname-override": node.name,
    "nodeport-addresses": ips.join(),
    "cluster-dns": clusterDns,
    "cluster-domain": CLUSTER_DOMAIN,
    // The node has no internet access: external names are refused at once instead of after a timeout.
    upstream: "",
    ...(proxyMode !== undefined && { "proxy-mode": proxyMode }),
    ...(podRanges !== undefined && { "cluster-cidr": podRanges.join() }),
    ...(featureGates !== undefined && { "feature-gates": featureGates }),
  };
  return ["proxy", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}

/** Identifies a command line: if it differs, the process is replaced. */
export function networkAgentStart(node: NodeNames, ips: readonly string[], options: KubeletOptions): string {
  const { proxyCommand: command = options.command, serverUrl, authority, version } = options;
  const parts = [command, networkAgentArgs(node, ips, options), serverUrl, authority.certPem, version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export async function startNetworkAgent(
  node: NodeNames,
  ips: readonly string[],
  options: KubeletOptions,
): Promise<ProcessId> {
  const { authority, serverUrl, proxyCommand: command = options.command, clusterDns = CLUSTER_DNS } = options;
  const [program = process.execPath, ...first] = command;
  const client = await authority.issue({ commonName: USER, usages: ["client"] });
  await writeKubeconfig(
    node.proxyKubeconfig,
    kubeconfigFor({ name: node.name, server: serverUrl, caPem: authority.certPem, client }),
  );
  // Each node serves the cluster DNS itself.
  await ipCommand(
    ["address", "replace", `${clusterDns}/${clusterDns.includes(":") ? 128 : 32}`, "dev", "lo"],
    node.namespace,
  );
  return startDaemon({
    program,
    args: [...first, ...networkAgentArgs(node, ips, options)],
    namespace: namespacePath(node.namespace),
    hostname: node.name,
    logFile: node.proxyLog,
    env: LEAN_ENV,
  });
}
