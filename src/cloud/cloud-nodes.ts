/**
 * Copies facts about machines from the cloud to Nodes: addresses, zones, types; deletes Nodes without a machine.
 *
 *     new Node (tainted) ──► cloud: find ──► providerID, labels ══► addresses ══► taint removed
 *     Node, from time to time ···► addresses
 *
 * A kubelet with an external cloud provider registers its Node with a taint, which this controller removes.
 */
import { type core, kinds } from "#api";
import type { Controller, Plan, Source, Write } from "#controllers";
import type { Instance, Instances } from "./cloud.ts";

export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const LABELS = {
  type: "node.kubernetes.io/instance-type",
  zone: "topology.kubernetes.io/zone",
  region: "topology.kubernetes.io/region",
} as const;
const LOOK_MS = 300_000;

export function cloudNodes(instances: Instances): Controller {
  return {
    name: "cloud-node-controller",
    account: "cloud-node-controller",
    bind({ cache }) {
      const nodes = cache(kinds.Node);
      const sources: Source[] = [
        {
          resource: kinds.Node as Source["resource"],
          keys: ({ type, object }) => (type === "added" ? [object.metadata.name ?? ""] : []),
        },
      ];
      return {
        sources,
        async reconcile(key, _, signal): Promise<Plan | undefined> {
          const node = nodes.get(key);
          if (node === undefined) return undefined;
          const instance = await instances.find(node, signal);
          return { ...(instance !== undefined && planNode(node, instance)), againAfterMs: LOOK_MS };
        },
      };
    },
  };
}

export function planNode(node: core.Node, instance: Instance): Plan {
  const writes = nodeWrites(node, instance);
  const addresses = JSON.stringify(node.status?.addresses ?? []) === JSON.stringify(instance.addresses);
  const status: Write[] = addresses
    ? []
    : [
        {
          ...{ verb: "patch", resource: kinds.Node, object: node, subresource: "status", type: "merge" },
          patch: { status: { addresses: instance.addresses.map(({ type, address }) => ({ type, address })) } },
        },
      ];
  return { steps: [status, writes] };
}

function nodeWrites(node: core.Node, instance: Instance): Write[] {
  const labels = Object.entries(LABELS).flatMap(([field, label]) => {
    const value = instance[field as keyof typeof LABELS];
    return value === undefined || node.metadata.labels?.[label] === value ? [] : [[label, value] as const];
  });
  const taints = node.spec?.taints ?? [];
  const left = taints.filter(({ key }) => key !== UNINITIALIZED);
  // providerID is immutable.
  const providerId =
    node.spec?.providerID === undefined || node.spec.providerID === "" ? instance.providerId : undefined;
  if (labels.length === 0 && left.length === taints.length && providerId === undefined) return [];
  const patch = {
    metadata: { resourceVersion: node.metadata.resourceVersion ?? "", labels: Object.fromEntries(labels) },
    spec: {
      ...(providerId !== undefined && { providerID: providerId }),
      ...(left.length < taints.length && { taints: left.length === 0 ? null : left.map((taint) => ({ ...taint })) }),
    },
  };
  return [{ verb: "patch", resource: kinds.Node, object: node, type: "merge", patch }];
}
