/**
 * What a machine's facts mean for its Node.
 *
 *     tainted as uninitialized ──► addresses ══► providerID, labels, without the taint ══►
 *     initialized              ──► addresses ══►
 *
 * 1. The taint goes last, with everything else in place: Pods come only then.
 * 2. Labels are set once. What an administrator makes of them later stays.
 */
import { type core, kinds } from "#api";
import type { Plan, Write } from "#controllers";
import type { Instance } from "../cloud.ts";
import { addressesOf } from "./provided-node-ip.ts";

export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

const LABELS = {
  type: ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"],
  zone: ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"],
  region: ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"],
} as const;

export function isUninitialized({ spec }: core.Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === UNINITIALIZED);
}

/** Throws NodeIpError. */
export function planNode(node: core.Node, instance: Instance): Plan {
  const status = addressWrites(node, instance);
  if (!isUninitialized(node)) return { steps: [status] };
  return {
    steps: [status, [initialization(node, instance)]],
    eventFor: ({ verb, ...write }, { ok }) =>
      ok && verb === "patch" && !("subresource" in write)
        ? { about: node, type: "Normal", reason: "Synced", note: "Node synced successfully" }
        : undefined,
  };
}

function addressWrites(node: core.Node, instance: Instance): Write[] {
  // Without any, the last known ones are better than none.
  if (instance.addresses.length === 0) return [];
  const wanted = addressesOf(node, instance.addresses);
  const known = (node.status?.addresses ?? []).map(({ type, address }) => ({ type, address }));
  if (JSON.stringify(known) === JSON.stringify(wanted)) return [];
  return [
    {
      ...{ verb: "patch", resource: kinds.Node, object: node, subresource: "status", type: "merge" },
      patch: { status: { addresses: wanted.map((address) => ({ ...address })) } },
    },
  ];
}

function initialization(node: core.Node, { providerId, labels: more = {}, ...facts }: Instance): Write {
  const known = node.metadata.labels ?? {};
  const own = Object.entries(LABELS).flatMap(([field, names]) => {
    const value = facts[field as keyof typeof LABELS];
    return value === undefined ? [] : names.map((name) => [name, value] as const);
  });
  const further = Object.entries(more).filter(([name]) => !(name in known));
  const labels = Object.fromEntries([...further, ...own].filter(([name, value]) => known[name] !== value));
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED);
  // providerID is immutable.
  const hasId = (node.spec?.providerID ?? "") !== "";
  const patch = {
    // Of a Node that has changed meanwhile, the list of taints would undo others' taints.
    metadata: {
      resourceVersion: node.metadata.resourceVersion ?? "",
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    spec: {
      ...(!hasId && { providerID: providerId }),
      taints: taints.length === 0 ? null : taints.map((taint) => ({ ...taint })),
    },
  };
  return { verb: "patch", resource: kinds.Node, object: node, type: "merge", patch };
}
