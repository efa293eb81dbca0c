/**
 * What a kubelet leaves to the cloud controller manager (`--cloud-provider external`).
 *
 * 1. The Node is registered with a taint that the cloud controller manager removes once it has initialized the Node.
 * 2. Addresses that the Node has stay as they are. Until it has some, those of `--node-ip` stand there, or none.
 */
import type { core } from "#api";
import { nodeAddresses } from "./node-object.ts";

export const PROVIDED_NODE_IP = "alpha.kubernetes.io/provided-node-ip";

export const UNINITIALIZED: core.Taint = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};

/** Undefined: the kubelet writes none. */
export function addressesBeforeCloud(
  node: core.Node,
  nodeName: string,
  providedIps: readonly string[],
): readonly core.NodeAddress[] | undefined {
  if ((node.status?.addresses ?? []).length > 0 || providedIps.length === 0) return undefined;
  return nodeAddresses(nodeName, providedIps);
}

/** Null removes the annotation of a kubelet that had other flags. */
export function providedIpAnnotation(providedIps: readonly string[] | undefined): Record<string, string | null> {
  return { [PROVIDED_NODE_IP]: (providedIps ?? []).length === 0 ? null : (providedIps ?? []).join() };
}

/** The node's own addresses as the cloud has said them; undefined before. */
export function internalIps({ status }: core.Node): readonly string[] | undefined {
  const found = (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  return found.length === 0 ? undefined : found;
}
