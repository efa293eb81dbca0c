/** LimitPodHardAntiAffinityTopology: required anti-affinity only with the topology key kubernetes.io/hostname. */
import type { core } from "#api";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";

const HOSTNAME = "kubernetes.io/hostname";

export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: "LimitPodHardAntiAffinityTopology",
  validates: [
    rule("CREATE UPDATE", "pods", (attributes) => {
      const { spec } = attributes.object as core.Pod;
      const terms = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      const other = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
      if (other === undefined) return;
      throw refused(
        attributes,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${HOSTNAME} is allowed`,
      );
    }),
  ],
};
