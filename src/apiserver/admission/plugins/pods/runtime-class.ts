/** RuntimeClass: a Pod gets the overhead and the scheduling constraints of its RuntimeClass. */
import { type core, type Draft, equalJson, type Json, type node, sentEmpty } from "#api";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, type Admit, type ClusterView, podOf, refused, rule } from "../../chain/plugin.ts";
import { mergeTolerations } from "./tolerations.ts";

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** Runs with the class of the Pod, once the cache has it. */
function withClass(
  then: (attributes: AdmissionAttributes, pod: ReturnType<typeof podOf>, found: node.RuntimeClass | undefined) => void,
): Admit {
  return (attributes, cluster) => {
    const pod = podOf(attributes);
    const name = pod.spec.runtimeClassName;
    if (name === undefined) return then(attributes, pod, undefined);
    const found = find(cluster, name);
    if (found !== undefined) return then(attributes, pod, found);
    return cluster.fresh().then(() => {
      const late = find(cluster, name);
      if (late === undefined) throw refused(attributes, `pod rejected: RuntimeClass "${name}" not found`);
      then(attributes, pod, late);
    });
  };
}

export const runtimeClass: AdmissionPlugin = {
  name: "RuntimeClass",
  mutates: [
    rule(
      "CREATE",
      "pods",
      withClass((attributes, { spec }, found) => {
        if (found?.overhead !== undefined) setOverhead(attributes, spec, found.overhead.podFixed ?? {});
        if (found?.scheduling !== undefined) setScheduling(attributes, spec, found.scheduling);
      }),
    ),
  ],
  validates: [
    rule(
      "CREATE",
      "pods",
      withClass((attributes, { spec }, found) => {
        if (found?.overhead !== undefined) {
          if (!isSame(found.overhead.podFixed ?? {}, spec.overhead ?? {})) throw refused(attributes, MISMATCH);
        } else if (spec.overhead !== undefined || sentEmpty(spec, "overhead") !== undefined) {
          throw refused(
            attributes,
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
          );
        }
      }),
    ),
  ],
};

function find(cluster: ClusterView, name: string): node.RuntimeClass | undefined {
  return cluster.get<node.RuntimeClass>("node.k8s.io", "v1", "runtimeclasses", "", name);
}

type Amounts = Readonly<Record<string, string>>;

function setOverhead(attributes: AdmissionAttributes, spec: Draft<core.PodSpec>, overhead: Amounts): void {
  if (spec.overhead !== undefined && !isSame(overhead, spec.overhead)) throw refused(attributes, MISMATCH);
  spec.overhead = { ...overhead };
}

function setScheduling(
  attributes: AdmissionAttributes,
  spec: Draft<core.PodSpec>,
  { nodeSelector, tolerations }: node.Scheduling,
): void {
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key];
    if (own === undefined || own === value) continue;
    throw refused(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
    );
  }
  const selector = { ...spec.nodeSelector, ...nodeSelector };
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations ?? []);
  if (merged.length > 0) spec.tolerations = merged as Draft<core.Toleration>[];
}

function isSame(a: Amounts, b: Amounts): boolean {
  return equalJson(a as Json, b as Json);
}
