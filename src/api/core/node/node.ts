import { ageColumn } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type { Node as NodeObject } from "../../types/core-v1.ts";
import { validateNode, validateNodeStatus, validateNodeUpdate } from "./validation.ts";

const rolePrefix = "node-role.kubernetes.io/";
const info = "io.k8s.api.core.v1.NodeSystemInfo";
const addresses = "io.k8s.api.core.v1.NodeStatus.addresses";

export const Node = defineKind<NodeObject>("v1", "Node", {
  defaults: (draft) => {
    joinPodCidrs(draft);
    const { status } = draft;
    if (status?.capacity !== undefined && status.allocatable === undefined) status.allocatable = { ...status.capacity };
  },
  // A kubelet registers its node with a status.
  create: { keepStatus: true, prepare: dropDynamicConfig },
  update: {
    prepare: (draft, old) => {
      if (old.spec?.configSource === undefined) dropDynamicConfig(draft);
    },
    validate: validateNodeUpdate,
  },
  validate: validateNode,
  subresources: { status: { validate: validateNodeStatus } },
  columns: [
    { name: "Status", type: "string", description: "The status of the node", cell: statusOf },
    { name: "Roles", type: "string", description: "The roles of the node", cell: rolesOf },
    ageColumn,
    {
      name: "Version",
      type: "string",
      doc: `${info}.kubeletVersion`,
      cell: ({ status }) => status?.nodeInfo?.kubeletVersion ?? "",
    },
    { name: "Internal-IP", type: "string", priority: 1, doc: addresses, cell: (node) => addressOf(node, "InternalIP") },
    { name: "External-IP", type: "string", priority: 1, doc: addresses, cell: (node) => addressOf(node, "ExternalIP") },
    {
      name: "OS-Image",
      type: "string",
      priority: 1,
      doc: `${info}.osImage`,
      cell: ({ status }) => status?.nodeInfo?.osImage || "<unknown>",
    },
    { name: "Kernel-Version", type: "string", priority: 1, doc: `${info}.kernelVersion`, cell: kernelOf },
    {
      name: "Container-Runtime",
      type: "string",
      priority: 1,
      doc: `${info}.containerRuntimeVersion`,
      cell: ({ status }) => status?.nodeInfo?.containerRuntimeVersion || "<unknown>",
    },
  ],
  selectableFields: { names: ["spec.unschedulable"], valueOf: ({ spec }) => String(spec?.unschedulable ?? false) },
  warnings: ({ spec }) =>
    spec?.externalID === undefined ? [] : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"],
});

/** Keeps `podCIDR` and `podCIDRs` consistent. `podCIDR` wins where they differ: its writer does not know the list. */
function joinPodCidrs({ spec }: Draft<NodeObject>): void {
  if (spec === undefined) return;
  const [first] = spec.podCIDRs ?? [];
  if (spec.podCIDR && spec.podCIDR !== first) spec.podCIDRs = [spec.podCIDR];
  else if (first !== undefined) spec.podCIDR = first;
}

/** Dynamic kubelet configuration is gone: its fields are dropped. */
function dropDynamicConfig({ spec, status }: Draft<NodeObject>): void {
  delete spec?.configSource;
  delete status?.config;
}

function statusOf({ spec, status }: NodeObject): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const words = [ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady"];
  if (spec?.unschedulable) words.push("SchedulingDisabled");
  return words.join(",");
}

function rolesOf({ metadata }: NodeObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) roles.add(key.slice(rolePrefix.length));
    else if (key === "kubernetes.io/role" && value !== "") roles.add(value);
  }
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function addressOf({ status }: NodeObject, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? "<none>";
}

function kernelOf({ status }: NodeObject): string {
  const { kernelVersion = "", architecture = "" } = status?.nodeInfo ?? {};
  if (kernelVersion === "") return "<unknown>";
  return architecture === "" ? kernelVersion : `${kernelVersion} (${architecture})`;
}
