/** A node's kubelet: a process in the node's network namespace, with the user system:node:<name>. */
import { createHash } from "node:crypto";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ProxyMode } from "#network";
import { type Authority, kubeconfigFor, writeKubeconfig } from "#pki";
import { makeShared } from "../machine/mounts.ts";
import { LEAN_ENV, type ProcessId, startDaemon } from "../machine/processes.ts";
import { type NodeNames, namespacePath } from "../site/names.ts";

/** The tenth address of the default Service range. */
export const CLUSTER_DNS = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";

export interface KubeletOptions {
  /** The program and first arguments of `k8ts`. */
  readonly command: readonly string[];
  /** The same for the proxy, if it differs. */
  readonly proxyCommand?: readonly string[] | undefined;
  /** The API server's address for nodes. */
  readonly serverUrl: string;
  readonly authority: Pick<Authority, "certPem" | "issue">;
  /** Version of k8ts: a kubelet of another version is replaced. */
  readonly version: string;
  /** kube-proxy mode. Default: the proxy's own. */
  readonly proxyMode?: ProxyMode | undefined;
  /** Pod IP ranges. Default: the proxy's own. */
  readonly podRanges?: readonly string[] | undefined;
  /** The addresses of the cluster DNS, which every node serves. Default: 10.96.0.10. */
  readonly clusterDns?: string | undefined;
  /** As in `--feature-gates`. Default: none. */
  readonly featureGates?: string | undefined;
}

type Names = Pick<KubeletOptions, "clusterDns" | "featureGates">;

/** `ips`: the node's, one or one of each family. */
export function kubeletArgs(
  node: NodeNames,
  ips: readonly string[],
  { clusterDns = CLUSTER_DNS, featureGates }: Names = {},
): string[] {
  const flags = {
    kubeconfig: node.kubeconfig,
    "hostname-override": node.name,
    "node-ip": ips.join(),
    "container-runtime-endpoint": `unix://${node.socket}`,
    "root-dir": node.kubeletRoot,
    "cert-dir": node.certDir,
    "pod-manifest-path": node.manifestDir,
    "cluster-dns": clusterDns,
    "cluster-domain": CLUSTER_DOMAIN,
    "cgroup-root": node.cgroup,
    // Nodes share the machine's disk: disk pressure is mostly caused by others, so no eviction and no image removal.
    "eviction-hard": "memory.available<100Mi",
    "image-gc-high-threshold": "100",
    "image-gc-low-threshold": "99",
    ...(featureGates !== undefined && { "feature-gates": featureGates }),
  };
  return ["kubelet", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}

/** Identifies a command line: if it differs, the process is replaced. */
export function kubeletStart(node: NodeNames, ips: readonly string[], options: KubeletOptions): string {
  const { command, serverUrl, authority, version } = options;
  const parts = [command, kubeletArgs(node, ips, options), serverUrl, authority.certPem, version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export async function startKubelet(
  node: NodeNames,
  ips: readonly string[],
  options: KubeletOptions,
): Promise<ProcessId> {
  const [program = process.execPath, ...first] = options.command;
  for (const dir of [node.kubeletRoot, node.certDir, node.manifestDir]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  }
  await makeShared(node.kubeletRoot);
  await linkLogs(node);
  await writeCredentials(node, ips, options);
  return startDaemon({
    program,
    args: [...first, ...kubeletArgs(node, ips, options)],
    namespace: namespacePath(node.namespace),
    hostname: node.name,
    logFile: node.kubeletLog,
    env: LEAN_ENV,
  });
}

/** The kubelet shows the logs of the node's programs beside those of its Pods. */
async function linkLogs(node: NodeNames): Promise<void> {
  const dir = join(node.kubeletRoot, "log");
  await mkdir(join(dir, "pods"), { recursive: true, mode: 0o755 });
  for (const file of [node.kubeletLog, node.containerdLog, node.proxyLog]) {
    const link = join(dir, basename(file));
    await rm(link, { force: true });
    await symlink(file, link);
  }
}

/** New certificates at each start: the client's in its kubeconfig, the server's in the kubelet's files. */
async function writeCredentials(
  node: NodeNames,
  ipAddresses: readonly string[],
  options: KubeletOptions,
): Promise<void> {
  const { authority, serverUrl } = options;
  const commonName = `system:node:${node.name}`;
  const organizations = ["system:nodes"];
  const [client, server] = await Promise.all([
    authority.issue({ commonName, organizations, usages: ["client"] }),
    authority.issue({ commonName, organizations, usages: ["server"], dnsNames: [node.name], ipAddresses }),
  ]);
  await writeKubeconfig(
    node.kubeconfig,
    kubeconfigFor({ name: node.name, server: serverUrl, caPem: authority.certPem, client }),
  );
  await writeFile(join(node.certDir, "kubelet.key"), server.keyPem, { mode: 0o600 });
  await writeFile(join(node.certDir, "kubelet.crt"), server.certPem, { mode: 0o644 });
}
