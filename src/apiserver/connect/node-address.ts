/** Where a node's kubelet is reached. */
import { type core, notFound, StatusError } from "#api";
import type { Resource } from "../rest/resource.ts";
import { refuseSimulated } from "./nothing-runs.ts";

/** Names come last, as kubeadm sets it: a node's name need not be known to any DNS. */
const PREFERRED = ["InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS", "Hostname"];
const KUBELET_PORT = 10_250;

export interface KubeletAddress {
  readonly host: string;
  readonly port: number;
}

export function kubeletAddress(
  nodes: Resource,
  name: string,
  preferred: readonly string[] = PREFERRED,
): KubeletAddress {
  const stored = nodes.cache.get(name);
  if (stored === undefined) throw notFound(nodes.groupResource, name);
  refuseSimulated(nodes, name);
  const { addresses = [], daemonEndpoints } = (nodes.read(stored) as core.Node).status ?? {};
  for (const wanted of preferred) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found !== undefined)
      return { host: found.address, port: daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
  throw new StatusError("", `no preferred addresses found; known addresses: [${known}]`);
}
