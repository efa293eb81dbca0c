/**
 * Where and how the kubelet of a node is reached.
 *
 * 1. Simulated nodes are refused: nothing runs there, and their addresses may belong to another machine.
 */
import { type core, notFound, StatusError } from "#api";
import type { Dial, NetworkAddress } from "#base";
import type { Resource } from "../rest/resource.ts";
import type { Target } from "./forward.ts";

/** Names come last, as kubeadm sets it: a node's name need not be known to any DNS. */
const PREFERRED = ["InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS", "Hostname"];
const KUBELET_PORT = 10_250;
const SIMULATED = "simulated://";

/** Settings of connections to kubelets, where they differ from the defaults. */
export interface KubeletReach {
  /** Types of Node addresses, preferred first. */
  readonly addressTypes?: readonly string[] | undefined;
  /** How long a kubelet may take to respond. */
  readonly timeoutMs?: number | undefined;
  /** Of kubelets whose Node names none. Default: 10250. */
  readonly port?: number | undefined;
}

/** What a kubelet of this process has under a path, such as /metrics/resource. Undefined: ask the node. */
export type SimulatedMetrics = (node: string, path: string) => string | undefined;

export interface PodConnections {
  readonly pods: Resource;
  readonly nodes: Resource;
  /** The current client certificate of this server for kubelets. */
  readonly kubeletIdentity?: (() => Target["tls"]) | undefined;
  readonly kubelets?: KubeletReach | undefined;
  readonly simulatedMetrics?: SimulatedMetrics | undefined;
  /** Aborts when this server stops. */
  readonly stopping?: AbortSignal | undefined;
  /** Opens connections to nodes, Pods and Services. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

export function kubeletTarget(connections: PodConnections, nodeName: string): Omit<Target, "path"> {
  const { nodes, kubeletIdentity, kubelets, stopping, dial } = connections;
  const address = kubeletAddress(nodes, nodeName, kubelets);
  return { secure: true, ...address, timeoutMs: kubelets?.timeoutMs, tls: kubeletIdentity?.(), stopping, dial };
}

export function kubeletAddress(
  nodes: Resource,
  name: string,
  { addressTypes: preferred = PREFERRED, port = KUBELET_PORT }: KubeletReach = {},
): NetworkAddress {
  const stored = nodes.cache.get(name);
  if (stored === undefined) throw notFound(nodes.groupResource, name);
  refuseSimulated(nodes, name);
  const { addresses = [], daemonEndpoints } = (nodes.read(stored) as core.Node).status ?? {};
  for (const wanted of preferred) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found !== undefined) return { host: found.address, port: daemonEndpoints?.kubeletEndpoint?.Port || port };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
  throw new StatusError("", `no preferred addresses found; known addresses: [${known}]`);
}

/** Throws if the node is simulated. An unknown node is not. */
export function refuseSimulated(nodes: Resource, name: string): void {
  const stored = nodes.cache.get(name);
  if (stored === undefined) return;
  const { nodeInfo } = (nodes.read(stored) as core.Node).status ?? {};
  if (nodeInfo?.containerRuntimeVersion?.startsWith(SIMULATED) !== true) return;
  const why =
    `node ${JSON.stringify(name)} is simulated: no containers run there, so there are no logs, ` +
    "and nothing to run commands in or to connect to";
  throw new StatusError("", `${why} (nodes of \`k8ts up --runtime containerd\` run them)`, { code: 501 });
}
