/** A kubelet and its Node: labels and taints that would attract Pods are refused. */
import { type core, equalJson, goQuote, type Json } from "#api";
import { refused } from "../../chain/plugin.ts";
import type { NodeCheck } from "./node-check.ts";

const RESTRICTED = "node-restriction.kubernetes.io";
const OWN_NAMESPACES = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const OWN_LABELS = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);

export const checkNode: NodeCheck = (name, attributes) => {
  const who = `node ${goQuote(name)}`;
  const asked = attributes.name || (attributes.object?.metadata.name ?? "");
  if (asked !== name) throw refused(attributes, `${who} is not allowed to modify node ${goQuote(asked)}`);
  const node = attributes.object as core.Node | undefined;
  const old = attributes.old as core.Node | undefined;
  if (attributes.operation === "CREATE") {
    if (node?.spec?.configSource !== undefined)
      throw refused(attributes, `${who} is not allowed to create pods with a non-nil configSource`);
    const labels = forbiddenLabels(node?.metadata.labels, {});
    if (labels.length > 0)
      throw refused(attributes, `${who} is not allowed to set the following labels: ${labels.join(", ")}`);
  }
  if (attributes.operation === "UPDATE") {
    const source = node?.spec?.configSource;
    if (source !== undefined && !isSame(source, old?.spec?.configSource))
      throw refused(attributes, `${who} is not allowed to update configSource to a new non-nil configSource`);
    if (!isSame(node?.spec?.taints ?? [], old?.spec?.taints ?? []))
      throw refused(attributes, `${who} is not allowed to modify taints`);
    const labels = forbiddenLabels(node?.metadata.labels, old?.metadata.labels);
    if (labels.length > 0) throw refused(attributes, `is not allowed to modify labels: ${labels.join(", ")}`);
    if (!isSame(node?.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
      throw refused(attributes, `${who} is not allowed to modify ownerReferences`);
  }
};

type Labels = Readonly<Record<string, string>>;

/** The changed labels that a kubelet may not change, sorted. */
function forbiddenLabels(labels: Labels = {}, before: Labels = {}): readonly string[] {
  return [...new Set([...Object.keys(labels), ...Object.keys(before)])]
    .filter((label) => labels[label] !== before[label] && isForbidden(label))
    .sort();
}

function isForbidden(label: string): boolean {
  const namespace = label.includes("/") ? label.slice(0, label.indexOf("/")) : "";
  if (isIn(namespace, RESTRICTED)) return true;
  const ofKubernetes = isIn(namespace, "kubernetes.io") || isIn(namespace, "k8s.io");
  return ofKubernetes && !OWN_LABELS.has(label) && !OWN_NAMESPACES.some((own) => isIn(namespace, own));
}

function isIn(namespace: string, domain: string): boolean {
  return namespace === domain || namespace.endsWith(`.${domain}`);
}

function isSame(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}
