/** PodTopologyLabels: copies the zone and region labels of the node to the Pod, for the downward API. */
import type { core, Draft, KubeObject } from "#api";
import { type AdmissionPlugin, type ClusterView, rule } from "../../chain/plugin.ts";

const LABELS = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

export const podTopologyLabels: AdmissionPlugin = {
  name: "PodTopologyLabels",
  mutates: [
    rule("CREATE", "pods", ({ object }, cluster) => {
      const nodeName = (object as core.Pod).spec?.nodeName ?? "";
      if (nodeName !== "") copyLabels(cluster, nodeName, object as Draft<KubeObject>);
    }),
    // The labels of a Binding are added to its Pod.
    rule("CREATE", "pods/binding bindings", ({ object }, cluster) => {
      const { target } = object as core.Binding;
      if (target.kind === "Node") copyLabels(cluster, target.name ?? "", object as Draft<KubeObject>);
    }),
  ],
};

function copyLabels(cluster: ClusterView, nodeName: string, { metadata }: Draft<KubeObject>): void {
  const labels = cluster.get("", "v1", "nodes", "", nodeName)?.metadata.labels ?? {};
  for (const name of LABELS) {
    const value = labels[name];
    if (value !== undefined) metadata.labels = { ...metadata.labels, [name]: value };
  }
}
