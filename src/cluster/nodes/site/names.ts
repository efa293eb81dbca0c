/**
 * The names of everything that real nodes consist of. They derive from the data directory and the node's name alone, so
 * that leftovers of a crash can be found.
 *
 *     <data dir>/certs.d/                 registry mirrors, optional: like containerd's certs.d
 *     <data dir>/registries.yaml          the same and credentials, optional; images/: archives for all nodes
 *     <data dir>/nodes/.registries/       what registries.yaml says, for containerd; .images/: imported archives
 *     <data dir>/nodes/network.json       the address ranges
 *     <data dir>/nodes/machine.json       the same of a node that has this machine's network
 *     <data dir>/nodes/ingress.json       the ingress process
 *     <data dir>/nodes/<node>/            node.json, run.json, and what is its own, by its path in the node:
 *                             disk/       /, with /var, /opt, /root, …
 *                             etc/: /etc; manifests/: /etc/kubernetes/manifests
 *                             volumes/    those of a node with a user namespace, which is not in it
 *     /run/k8ts/<id>/<node>/              /run of the node; removed with it
 *     /run/k8ts/<id>/.programs/           /opt/k8ts of all nodes: this k8ts and its Node
 *     /run/k8ts/<id>/.volumes/<hash>/     /run/k8ts-volumes of a node with a user namespace
 *     /run/k8ts/<id>/.machine-<node>.json settings of the machine's network, as they were
 *     /run/k8ts/.forwarding/              which clusters need this machine to forward, and how it was before
 *     /run/k8ts/.loops/<first>            whose loop devices these are, of all clusters of this machine
 *     /run/netns/k8ts-<id>-<node>         its network namespace; k8ts-<id>-switch connects them
 *     /sys/fs/cgroup/…/k8ts-<id>/<node>/  its processes and containers
 *     /sys/fs/cgroup/devices/k8ts-<id>.volumes/<node>/  its CSI driver, with the node's loop devices
 *
 * 1. A file of a node has two paths: on the machine (`nodeNames`), and in the node (`insideNames`). Only programs that
 *    run in the node use the latter.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Socket paths have to be short, so they are not in the data directory. */
const RUN_ROOT = "/run/k8ts";
const NETWORK_NAMESPACES = "/run/netns";

/** Who on this machine has which loop devices, of all clusters. */
export const LOOP_CLAIMS = join(RUN_ROOT, ".loops");

/** Which clusters need this machine to forward packets, for each of its networks. */
export const FORWARDING_CLAIMS = join(RUN_ROOT, ".forwarding");

export interface SiteNames {
  /** Distinguishes clusters on one machine. */
  readonly id: string;
  readonly nodesDir: string;
  readonly networkFile: string;
  /** The user's registry mirrors, besides containerd's own directory. */
  readonly registryDir: string;
  readonly registriesFile: string;
  /** What it says, for containerd. */
  readonly compiledRegistryDir: string;
  /** Archives that all nodes get: the user's, and those that were imported by a command. */
  readonly imagesDir: string;
  readonly importedImagesDir: string;
  readonly runDir: string;
  /** Programs of k8ts for nodes: read-only, and visible in nodes that are running already. */
  readonly programsDir: string;
  readonly switchNamespace: string;
  /** The machine's end of the link to the switch. */
  readonly machineLink: string;
  readonly cgroup: string;
  /** Beside it: the cgroups of the nodes' CSI drivers. */
  readonly volumesCgroup: string;
  /** The ingress's kubeconfig, process record and log. */
  readonly ingressKubeconfig: string;
  readonly ingressFile: string;
  readonly ingressLog: string;
  /** The ports of this machine that lead to it. */
  readonly ingressPortsFile: string;
}

/** Files that processes of the node use. */
export interface NodeFiles {
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
  readonly kubeletConfig: string;
  readonly credentialProviders: string;
  readonly kubeletLog: string;
  readonly kubeconfig: string;
  readonly proxyKubeconfig: string;
  readonly proxyLog: string;
  /** The API servers that the node's balancer remembers. */
  readonly apiServersFile: string;
  /** The node's volumes: records and images of the CSI driver. */
  readonly volumesDir: string;
  readonly csiDriverLog: string;
  readonly certDir: string;
  readonly manifestDir: string;
  readonly registryDir: string;
  /** What registries.yaml says, for containerd. */
  readonly compiledRegistryDir: string;
  /** How Pods with the node's DNS resolve names. */
  readonly resolvConf: string;
  /** The cgroup below which its containers are. */
  readonly cgroup: string;
}

export interface NodeNames extends NodeFiles {
  readonly name: string;
  /** Unique on this machine. */
  readonly id: string;
  readonly dir: string;
  readonly specFile: string;
  readonly runFile: string;
  readonly namespace: string;
  readonly runDir: string;
  readonly diskDir: string;
  readonly etcDir: string;
  /** The configuration of the node's own container, and the state that runc keeps of it. */
  readonly bundleDir: string;
  readonly containerState: string;
  /** The name of its user namespace, if it has one. */
  readonly userNamespace: string;
  /** Where runc finds the disk of such a node: the folders above the disk are closed to the node's root. */
  readonly rootDir: string;
  /** Where runc finds folders of the machine for such a node, with its ids. */
  readonly mountsDir: string;
  /** What was set in the machine's network before the node had it. */
  readonly machineState: string;
  /** Says which devices its CSI driver may open. */
  readonly volumesCgroup: string;
  /** Of a node with a user namespace: its CSI driver is outside of it. */
  readonly outsideVolumes: OutsideVolumes;
}

/** All on the machine, and not in the node but for `folder`. */
export interface OutsideVolumes {
  /** Records and images. */
  readonly dir: string;
  readonly log: string;
  /** The driver's sockets, and mounts on their way into the node. */
  readonly folder: string;
  /** Device files of its loop devices: many a /run has no devices. */
  readonly deviceDir: string;
}

/** Where the node has its `folder`. */
export const VOLUMES_INSIDE = "/run/k8ts-volumes";

/** Where parts of a node's file tree are. */
interface Roots {
  readonly disk: string;
  readonly etc: string;
  readonly run: string;
  readonly manifests: string;
  readonly registries: string;
  readonly compiledRegistries: string;
  readonly cgroup: string;
}

const INSIDE: Roots = {
  disk: "/",
  etc: "/etc",
  run: "/run",
  manifests: "/etc/kubernetes/manifests",
  registries: "/etc/k8ts/certs.d",
  compiledRegistries: "/etc/k8ts/registries.d",
  cgroup: "/",
};

export function siteNames(dataDir: string): SiteNames {
  const id = createHash("sha256").update(dataDir).digest("hex").slice(0, 8);
  const nodesDir = join(dataDir, "nodes");
  return {
    id,
    nodesDir,
    networkFile: join(nodesDir, "network.json"),
    registryDir: join(dataDir, "certs.d"),
    registriesFile: join(dataDir, "registries.yaml"),
    compiledRegistryDir: join(nodesDir, ".registries"),
    imagesDir: join(dataDir, "images"),
    importedImagesDir: join(nodesDir, ".images"),
    runDir: join(RUN_ROOT, id),
    programsDir: join(RUN_ROOT, id, ".programs"),
    switchNamespace: `k8ts-${id}-switch`,
    machineLink: `k8ts-${id}`,
    cgroup: `/k8ts-${id}`,
    volumesCgroup: `/k8ts-${id}.volumes`,
    ingressKubeconfig: join(nodesDir, "ingress.kubeconfig"),
    ingressFile: join(nodesDir, "ingress.json"),
    ingressLog: join(nodesDir, "ingress.log"),
    ingressPortsFile: join(nodesDir, "ingress-ports.json"),
  };
}

/** Paths on the machine. */
export function nodeNames(site: SiteNames, name: string): NodeNames {
  const kept = (...path: string[]) => join(site.nodesDir, name, ...path);
  const run = join(site.runDir, name);
  const [disk, etc, manifests] = [kept("disk"), kept("etc"), kept("manifests")];
  const cgroup = `${site.cgroup}/${name}`;
  return {
    ...filesIn({
      ...{ disk, etc, run, manifests, cgroup },
      registries: site.registryDir,
      compiledRegistries: site.compiledRegistryDir,
    }),
    name,
    id: `${site.id}/${name}`,
    dir: kept(),
    specFile: kept("node.json"),
    runFile: kept("run.json"),
    namespace: `k8ts-${site.id}-${name}`,
    runDir: run,
    diskDir: disk,
    etcDir: etc,
    bundleDir: kept("container"),
    // Beside the node's /run, not in it.
    containerState: join(site.runDir, ".containers", name),
    userNamespace: join(site.runDir, ".users", name),
    rootDir: join(site.runDir, ".roots", name),
    mountsDir: join(site.runDir, ".mounts", name),
    machineState: join(site.runDir, `.machine-${name}.json`),
    volumesCgroup: `${site.volumesCgroup}/${name}`,
    outsideVolumes: {
      dir: kept("volumes"),
      log: kept("csi-driver.log"),
      // Paths of sockets have to be short.
      folder: join(site.runDir, ".volumes", shortOf(name)),
      deviceDir: `/dev/.k8ts-${site.id}-${shortOf(name)}`,
    },
  };
}

function shortOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 8);
}

/** Paths as programs see them that run in the node. */
export function insideNames(names: NodeNames): NodeNames {
  return { ...names, ...filesIn(INSIDE) };
}

function filesIn({ disk, etc, run, manifests, registries, compiledRegistries, cgroup }: Roots): NodeFiles {
  return {
    socket: join(run, "containerd.sock"),
    stateDir: join(run, "containerd"),
    runcRoot: join(run, "runc"),
    ipamDir: join(run, "ipam"),
    containerdRoot: join(disk, "var/lib/containerd"),
    containerdConfig: join(etc, "containerd/config.toml"),
    containerdLog: join(disk, "var/log/containerd.log"),
    optDir: join(disk, "opt/containerd"),
    cniDir: join(etc, "cni/net.d"),
    kubeletRoot: join(disk, "var/lib/kubelet"),
    kubeletConfig: join(etc, "kubernetes/kubelet-config.json"),
    credentialProviders: join(etc, "kubernetes/credential-providers.yaml"),
    kubeletLog: join(disk, "var/log/kubelet.log"),
    kubeconfig: join(etc, "kubernetes/kubelet.conf"),
    proxyKubeconfig: join(etc, "kubernetes/proxy.conf"),
    proxyLog: join(disk, "var/log/proxy.log"),
    apiServersFile: join(disk, "var/lib/k8ts-api-servers.json"),
    volumesDir: join(disk, "var/lib/k8ts-volumes"),
    csiDriverLog: join(disk, "var/log/csi-driver.log"),
    certDir: join(disk, "var/lib/kubelet/pki"),
    manifestDir: manifests,
    registryDir: registries,
    compiledRegistryDir: compiledRegistries,
    resolvConf: join(etc, "resolv.conf"),
    cgroup,
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
