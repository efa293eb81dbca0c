/**
 * Files of the kind Cluster as a table of fields: what each is, and what it means. docs/cluster-config.md shows it as a
 * table, and a test compares them.
 *
 * 1. Decoding is strict: an unknown field, or a value of another type, is an error that names its path.
 */

export type FieldType = "string" | "boolean" | "integer" | "strings" | "map of strings" | "map of booleans" | "object";

/** `nodes[].labels` is a field of every item of the list `nodes`. */
export const FIELDS: readonly (readonly [path: string, type: FieldType, meaning: string])[] = [
  ["apiVersion", "string", "`k8ts.dev/v1alpha1`"],
  ["kind", "string", "`Cluster`"],
  ["name", "string", "the cluster's name; one on the command line has to be the same"],
  ["nodes[].name", "string", "the node's name (default: `node-1` and so on, by its place)"],
  ["nodes[].kind", "string", "`real` or `simulated`, the same for all nodes (default: real where this machine can)"],
  ["nodes[].role", "string", "the label `node-role.kubernetes.io/ROLE`, which `kubectl get nodes` shows"],
  ["nodes[].labels", "map of strings", "labels of the Node"],
  ["nodes[].taints[].key", "string", "a taint that the Node registers with"],
  ["nodes[].taints[].value", "string", "its value (default: none)"],
  ["nodes[].taints[].effect", "string", "`NoSchedule`, `PreferNoSchedule` or `NoExecute`"],
  ["nodes[].cpu", "string", "CPUs of a simulated node (default: 8)"],
  ["nodes[].memory", "string", "memory of a simulated node (default: 32Gi)"],
  ["nodes[].pods", "integer", "how many Pods a simulated node takes (default: 110)"],
  ["nodes[].extraMounts[].hostPath", "string", "a folder or file of this machine that a real node gets"],
  ["nodes[].extraMounts[].containerPath", "string", "its path in the node"],
  ["nodes[].extraMounts[].readOnly", "boolean", "whether the node may only read it (default: false)"],
  [
    "nodes[].extraPortMappings[].containerPort",
    "integer",
    "refused: nodes publish no ports, Services do (`k8ts publish`)",
  ],
  ["nodes[].extraPortMappings[].hostPort", "integer", "refused"],
  ["nodes[].extraPortMappings[].listenAddress", "string", "refused"],
  ["nodes[].extraPortMappings[].protocol", "string", "refused"],
  ["nodes[].kubelet", "object", "fields of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) of a real node"],
  ["networking.apiServerAddress", "string", "the address that the API server listens on (default: 127.0.0.1)"],
  ["networking.apiServerPort", "integer", "its port (default: that of the last start, else 6443 if it is free)"],
  ["networking.podSubnet", "string", "Pod IP range of real nodes, IPv4 or dual-stack (default: an unused range)"],
  ["networking.serviceSubnet", "string", "Service IP range, or one of each family (default: 10.96.0.0/12)"],
  ["networking.kubeProxyMode", "string", "`nftables` or `iptables` (default: nftables)"],
  ["featureGates", "map of booleans", "feature gates of all components"],
  ["runtimeConfig", "map of strings", 'API versions and resources to turn on or off, such as `api/beta: "true"`'],
  ["store", "string", "`embedded` or `memory` (default: embedded)"],
  ["outside", "boolean", "whether nodes reach what this machine reaches (default: true)"],
  ["registries", "string", "a registries.yaml: mirrors, certificates and credentials of registries, for real nodes"],
  ["manifests", "strings", "files and folders with objects, applied in their order at every start"],
  ["charts[].name", "string", "the release of a Helm chart, installed or upgraded at every start; needs helm on PATH"],
  ["charts[].chart", "string", "the folder or archive of the chart"],
  ["charts[].namespace", "string", "the namespace of the release, created if it is missing (default: default)"],
  ["charts[].values", "object", "values of the chart"],
];

/** A field with fields of its own, or a value. */
type Shape = { readonly value: FieldType } | { readonly list: boolean; readonly fields: ReadonlyMap<string, Shape> };

const ROOT: Shape = { list: false, fields: shapeOf(FIELDS.map(([path, type]) => [path.split("."), type])) };

function shapeOf(paths: readonly (readonly [readonly string[], FieldType])[]): ReadonlyMap<string, Shape> {
  const fields = new Map<string, Shape>();
  for (const head of new Set(paths.map(([path]) => path[0] ?? ""))) {
    const inner = paths.filter(([path]) => path[0] === head);
    const [[path, value] = [[], "object" as const]] = inner;
    fields.set(
      head.replace("[]", ""),
      path.length === 1
        ? { value }
        : { list: head.endsWith("[]"), fields: shapeOf(inner.map(([each, type]) => [each.slice(1), type])) },
    );
  }
  return fields;
}

/** What is wrong with a document, as sentences with the paths of fields. Empty: nothing. */
export function problemsIn(document: unknown): readonly string[] {
  return problemsOf(document, ROOT, "");
}

function problemsOf(value: unknown, shape: Shape, path: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if ("value" in shape) return isOf(value, shape.value) ? [] : [`${path}: must be ${words(shape.value)}`];
  if (shape.list) {
    if (!Array.isArray(value)) return [`${path}: must be a list`];
    return value.flatMap((item, at) => problemsOf(item, { ...shape, list: false }, `${path}[${at}]`));
  }
  if (!isObject(value)) return [`${path === "" ? "the file" : path}: must be an object`];
  return Object.entries(value).flatMap(([name, inner]) => {
    const below = path === "" ? name : `${path}.${name}`;
    const field = shape.fields.get(name);
    return field === undefined ? [`unknown field ${JSON.stringify(below)}`] : problemsOf(inner, field, below);
  });
}

function isOf(value: unknown, type: FieldType): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "strings":
      return Array.isArray(value) && value.every((each) => typeof each === "string");
    case "map of strings":
      return isObject(value) && Object.values(value).every((each) => typeof each === "string");
    case "map of booleans":
      return isObject(value) && Object.values(value).every((each) => typeof each === "boolean");
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function words(type: FieldType): string {
  if (type === "strings") return "a list of strings";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
