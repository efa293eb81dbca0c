/** A DaemonSet's Pod for one node: bound to it by node affinity, with tolerations for node conditions. */
import type { apps, core } from "#api";
import { isEnding, isFinished, type Pod, podFromTemplate } from "../pods/index.ts";

export type DaemonSet = apps.DaemonSet;

export const KIND = { apiVersion: "apps/v1", kind: "DaemonSet" };
export const HASH_LABEL = "controller-revision-hash";
const GENERATION_LABEL = "pod-template-generation";
const GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";
const NODE_NAME = "metadata.name";

export function nameOf({ metadata }: { readonly metadata: { readonly name?: string } }): string {
  return metadata.name ?? "";
}

/** Tolerations of all daemon Pods, so that they run on nodes with problems. */
export function tolerationsOf({ tolerations = [], hostNetwork = false }: Partial<core.PodSpec>): core.Toleration[] {
  const added = [
    tolerated("not-ready", "NoExecute"),
    tolerated("unreachable", "NoExecute"),
    tolerated("disk-pressure", "NoSchedule"),
    tolerated("memory-pressure", "NoSchedule"),
    tolerated("pid-pressure", "NoSchedule"),
    tolerated("unschedulable", "NoSchedule"),
    ...(hostNetwork ? [tolerated("network-unavailable", "NoSchedule")] : []),
  ];
  const isAdded = (own: core.Toleration) =>
    added.some(({ key, effect }) => own.key === key && own.effect === effect && own.operator === "Exists");
  return [...tolerations.filter((own) => !isAdded(own)), ...added];
}

function tolerated(condition: string, effect: "NoExecute" | "NoSchedule"): core.Toleration {
  return { key: `node.kubernetes.io/${condition}`, operator: "Exists", effect };
}

/** The Pod spec before it is bound to a node. */
export function daemonSpec({ spec }: DaemonSet): core.PodSpec {
  const pod: core.PodSpec = { containers: [], ...spec?.template.spec };
  return { ...pod, tolerations: tolerationsOf(pod) };
}

export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const pod = podFromTemplate(set.spec?.template, set, KIND);
  const generation = generationOf(set);
  const spec = daemonSpec(set);
  const onNode: core.NodeSelector = {
    nodeSelectorTerms: [{ matchFields: [{ key: NODE_NAME, operator: "In", values: [node] }] }],
  };
  const nodeAffinity = {
    ...spec.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: onNode,
  };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
        [HASH_LABEL]: hash,
      },
    },
    spec: { ...spec, affinity: { ...spec.affinity, nodeAffinity } },
  };
}

/** The node that a Pod is on, or is to be scheduled to. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields)
      if (key === NODE_NAME && operator === "In" && values.length === 1) return values[0];
  }
  return undefined;
}

/** Pods by node, oldest first, without finished Pods that are being deleted. */
export function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods.toSorted(compareAge)) {
    const node = nodeOf(pod);
    if (node === undefined || (isFinished(pod) && isEnding(pod))) continue;
    const there = byNode.get(node);
    if (there === undefined) byNode.set(node, [pod]);
    else there.push(pod);
  }
  return byNode;
}

export function isUpdated(set: DaemonSet, pod: Pod, hash: string): boolean {
  const { labels = {} } = pod.metadata;
  const generation = generationOf(set);
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

function generationOf({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[GENERATION_ANNOTATION];
  return text !== undefined && /^-?\d+$/.test(text) ? text : undefined;
}

function compareAge(a: Pod, b: Pod): number {
  const isPlaced = ({ spec }: Pod) => (spec?.nodeName === undefined || spec.nodeName === "" ? 1 : 0);
  return (
    isPlaced(a) - isPlaced(b) ||
    compare(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
    compare(nameOf(a), nameOf(b))
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
