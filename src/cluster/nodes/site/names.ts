/**
 * The names of everything that real nodes consist of. They derive from the data directory and the node's name alone, so
 * that leftovers of a crash can be found.
 *
 *     <data dir>/certs.d/                 registry mirrors, optional: like containerd's certs.d
 *     <data dir>/nodes/network.json       the address ranges
 *     <data dir>/nodes/ingress.json       the ingress process
 *     <data dir>/nodes/<node>/            its disk: node.json, run.json, containerd/, cni/, kubelet/, pki/
 *     /run/k8ts/<id>/<node>/              removed with the node: sockets, containerd's state, addresses in use
 *     /run/netns/k8ts-<id>-<node>         its network namespace; k8ts-<id>-switch connects them
 *     /sys/fs/cgroup/…/k8ts-<id>/<node>/  its containers
 */
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Socket paths have to be short, so they are not in the data directory. */
const RUN_ROOT = "/run/k8ts";
const NETWORK_NAMESPACES = "/run/netns";

export interface SiteNames {
  /** Distinguishes clusters on one machine. */
  readonly id: string;
  readonly nodesDir: string;
  readonly networkFile: string;
  /** The user's registry mirrors, besides containerd's own directory. */
  readonly registryDir: string;
  readonly runDir: string;
  readonly switchNamespace: string;
  /** The machine's end of the link to the switch. */
  readonly machineLink: string;
  readonly cgroup: string;
  /** The ingress's kubeconfig, process record and log. */
  readonly ingressKubeconfig: string;
  readonly ingressFile: string;
  readonly ingressLog: string;
}

export interface NodeNames {
  readonly name: string;
  readonly dir: string;
  readonly specFile: string;
  readonly runFile: string;
  readonly namespace: string;
  readonly cgroup: string;
  readonly runDir: string;
  readonly socket: string;
  readonly stateDir: string;
  readonly runcRoot: string;
  readonly ipamDir: string;
  readonly containerdRoot: string;
  readonly containerdConfig: string;
  readonly containerdLog: string;
  readonly optDir: string;
  readonly cniDir: string;
  readonly kubeletRoot: string;
  readonly kubeletLog: string;
  readonly kubeconfig: string;
  readonly proxyKubeconfig: string;
  readonly proxyLog: string;
  readonly certDir: string;
  readonly manifestDir: string;
  readonly registryDir: string;
}

export function siteNames(dataDir: string): SiteNames {
  const id = createHash("sha256").update(dataDir).digest("hex").slice(0, 8);
  const nodesDir = join(dataDir, "nodes");
  return {
    id,
    nodesDir,
    networkFile: join(nodesDir, "network.json"),
    registryDir: join(dataDir, "certs.d"),
    runDir: join(RUN_ROOT, id),
    switchNamespace: `k8ts-${id}-switch`,
    machineLink: `k8ts-${id}`,
    cgroup: `/k8ts-${id}`,
    ingressKubeconfig: join(nodesDir, "ingress.kubeconfig"),
    ingressFile: join(nodesDir, "ingress.json"),
    ingressLog: join(nodesDir, "ingress.log"),
  };
}

export function nodeNames(site: SiteNames, name: string): NodeNames {
  const kept = (...path: string[]) => join(site.nodesDir, name, ...path);
  const running = (...path: string[]) => join(site.runDir, name, ...path);
  return {
    name,
    dir: kept(),
    specFile: kept("node.json"),
    runFile: kept("run.json"),
    namespace: `k8ts-${site.id}-${name}`,
    cgroup: `${site.cgroup}/${name}`,
    runDir: running(),
    socket: running("containerd.sock"),
    stateDir: running("state"),
    runcRoot: running("runc"),
    ipamDir: running("ipam"),
    containerdRoot: kept("containerd"),
    containerdConfig: kept("containerd.toml"),
    containerdLog: kept("containerd.log"),
    optDir: kept("opt"),
    cniDir: kept("cni"),
    kubeletRoot: kept("kubelet"),
    kubeletLog: kept("kubelet.log"),
    kubeconfig: kept("kubelet.kubeconfig"),
    proxyKubeconfig: kept("proxy.kubeconfig"),
    proxyLog: kept("proxy.log"),
    certDir: kept("pki"),
    manifestDir: kept("manifests"),
    registryDir: site.registryDir,
  };
}

export function namespacePath(namespace: string): string {
  return join(NETWORK_NAMESPACES, namespace);
}

/** Why a node name is invalid, or undefined. It becomes a label value and part of paths. */
export function nodeNameProblem(name: string): string | undefined {
  if (name === "switch") return '"switch" is taken by the network between nodes.';
  if (name.length > 63 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    return `"${name}" is not a node name: use lower-case letters, digits and hyphens, at most 63 characters.`;
  }
  return undefined;
}
