/** A node's kubelet: a process in the node's place, with the user system:node:<name>. */
import { createHash, X509Certificate } from "node:crypto";
import { mkdir, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { core } from "#api";
import type { OverlayMode, ProxyMode } from "#network";
import { type Authority, kubeconfigFor, kubeconfigText } from "#pki";
import type { Place } from "../isolation/place.ts";
import { makeShared } from "../machine/mounts.ts";
import { LEAN_ENV, type ProcessId } from "../machine/processes.ts";
import type { NodeNames } from "../site/names.ts";
import type { NodeSpec } from "../site/record.ts";

export const DEFAULT_SERVICE_RANGE = "10.96.0.0/12";
/** The tenth address of the default Service range. */
export const CLUSTER_DNS = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";

export interface KubeletOptions {
  /** The program and first arguments of `k8ts`. */
  readonly command: readonly string[];
  /** The same for programs of a node that run on the machine. Default: `command`. */
  readonly machineCommand?: readonly string[] | undefined;
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
  /** Service IP ranges. Default: 10.96.0.0/12. */
  readonly serviceRanges?: readonly string[] | undefined;
  /** The addresses of the cluster DNS, which every node serves. Default: 10.96.0.10. */
  readonly clusterDns?: string | undefined;
  /** The resolv.conf of nodes, for Pods with the node's DNS. */
  readonly resolvConf?: string | undefined;
  /** DNS servers outside, as `ip:port`. Default: none; names outside are refused at once. */
  readonly dnsUpstreams?: readonly string[] | undefined;
  /** Names that the cluster DNS has besides those of Services, with their addresses. */
  readonly dnsHosts?: Readonly<Record<string, readonly string[]>> | undefined;
  /** As in `--feature-gates`. Default: none. */
  readonly featureGates?: string | undefined;
  /** How nodes reach Pods on other machines. Default: routes are set up elsewhere. */
  readonly overlay?: OverlayMode | undefined;
  /** Whether packets of Pods leave the cluster with the node's address. Default: others see to it. */
  readonly masqueradesOutside?: boolean | undefined;
  /** The balancer in the network agent by which a node's processes reach the API servers. Default: none. */
  readonly apiBalancer?: ApiBalancerOptions | undefined;
  /** Whether nodes run the CSI driver for volumes on their disks. Default: yes. */
  readonly localStorage?: boolean | undefined;
  /** The text of a CredentialProviderConfig, and the folder of its programs in nodes. Default: none. */
  readonly credentialProviders?: { readonly text: string; readonly binDir: string } | undefined;
  /** What is one node's own. */
  readonly own?: Pick<NodeSpec, "labels" | "taints" | "kubelet"> | undefined;
}

export interface ApiBalancerOptions {
  /** Where it listens: `host:port` of the loopback device. */
  readonly address: string;
  /** API servers to begin with: `host:port`. */
  readonly members: readonly string[];
}

type Names = Pick<KubeletOptions, "clusterDns" | "featureGates" | "credentialProviders" | "own">;

/** `ips`: the node's, one or one of each family. */
export function kubeletArgs(
  node: NodeNames,
  ips: readonly string[],
  { clusterDns = CLUSTER_DNS, featureGates, credentialProviders, own = {} }: Names = {},
): string[] {
  const { labels = {}, taints = [], kubelet } = own;
  const says = (field: string) => kubelet !== undefined && field in kubelet;
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
    "resolv-conf": node.resolvConf,
    "cgroup-root": node.cgroup,
    // Nodes share the machine's disk: disk pressure is mostly caused by others, so no eviction and no image removal.
    ...(!says("evictionHard") && { "eviction-hard": "memory.available<100Mi" }),
    ...(!says("imageGCHighThresholdPercent") && { "image-gc-high-threshold": "100" }),
    ...(!says("imageGCLowThresholdPercent") && { "image-gc-low-threshold": "99" }),
    // Nodes share the machine, which may have swap: their Pods get none of it.
    ...(!says("failSwapOn") && { "fail-swap-on": "false" }),
    ...(kubelet !== undefined && { config: node.kubeletConfig }),
    ...(Object.keys(labels).length > 0 && { "node-labels": pairsOf(labels) }),
    ...(taints.length > 0 && { "register-with-taints": taints.map(taintText).join() }),
    ...(featureGates !== undefined && { "feature-gates": featureGates }),
    ...(credentialProviders !== undefined && {
      "image-credential-provider-config": node.credentialProviders,
      "image-credential-provider-bin-dir": credentialProviders.binDir,
    }),
  };
  return ["kubelet", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}

function pairsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join();
}

function taintText({ key, value = "", effect }: core.Taint): string {
  return `${key}=${value}:${effect}`;
}

/** Identifies a command line: if it differs, the process is replaced. */
export function kubeletStart(node: NodeNames, ips: readonly string[], options: KubeletOptions): string {
  const { command, serverUrl, authority, version, resolvConf, own, credentialProviders } = options;
  const args = kubeletArgs(node, ips, options);
  const parts = [
    command,
    args,
    serverUrl,
    authority.certPem,
    version,
    resolvConf,
    own?.kubelet,
    credentialProviders?.text,
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

/** A process that was started with certificates. */
export interface StartedAgent {
  readonly process: ProcessId;
  /** When they have to be renewed. */
  readonly renewMs: number;
}

export async function startKubelet(
  place: Place,
  ips: readonly string[],
  options: KubeletOptions,
): Promise<StartedAgent> {
  const { files: node } = place;
  const [program = process.execPath, ...first] = options.command;
  await place.run("mkdir", ["-p", "-m", "700", node.kubeletRoot, node.certDir, node.manifestDir]);
  if (!place.isIsolated) {
    await makeShared(node.kubeletRoot);
    await linkLogs(node);
  }
  const configuration = options.own?.kubelet;
  if (configuration !== undefined) await place.write(node.kubeletConfig, JSON.stringify(configuration), 0o600);
  const { credentialProviders } = options;
  if (credentialProviders !== undefined) await place.write(node.credentialProviders, credentialProviders.text, 0o600);
  const renewMs = await writeCredentials(place, ips, options);
  const { clusterDns = CLUSTER_DNS, resolvConf = `nameserver ${clusterDns}\n` } = options;
  await place.write(node.resolvConf, resolvConf, 0o644);
  const args = [...first, ...kubeletArgs(node, ips, options)];
  return { process: await place.start({ program, args, logFile: node.kubeletLog, env: LEAN_ENV }), renewMs };
}

/** The kubelet shows the logs of the node's programs beside those of its Pods. In an isolated node they are there. */
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
  place: Place,
  ipAddresses: readonly string[],
  options: KubeletOptions,
): Promise<number> {
  const { files: node } = place;
  const { authority, serverUrl } = options;
  const commonName = `system:node:${node.name}`;
  const organizations = ["system:nodes"];
  const [client, server] = await Promise.all([
    authority.issue({ commonName, organizations, usages: ["client"] }),
    authority.issue({ commonName, organizations, usages: ["server"], dnsNames: [node.name], ipAddresses }),
  ]);
  const config = kubeconfigFor({ name: node.name, server: serverUrl, caPem: authority.certPem, client });
  await Promise.all([
    place.write(node.kubeconfig, kubeconfigText(config), 0o600),
    place.write(join(node.certDir, "kubelet.key"), server.keyPem, 0o600),
    place.write(join(node.certDir, "kubelet.crt"), server.certPem, 0o644),
  ]);
  return Math.min(renewalMs(client.certPem), renewalMs(server.certPem));
}

/** When a third of its lifetime is left. */
export function renewalMs(certPem: string): number {
  const { validFromDate, validToDate } = new X509Certificate(certPem);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return to - (to - from) / 3;
}
