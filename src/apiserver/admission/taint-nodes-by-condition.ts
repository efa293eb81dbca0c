/** A new Node takes no Pods before it has said that it is ready. */
import type { Draft, KubeObject } from "#api";
import { type AdmissionPlugin, isAbout } from "./plugin.ts";

interface Taint {
  key: string;
  effect: string;
}

const NOT_READY: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  mutate(attributes) {
    if (attributes.operation !== "CREATE" || !isAbout(attributes, "", "nodes")) return;
    const node = attributes.object as Draft<KubeObject> & { spec?: { taints?: Taint[] } };
    node.spec ??= {};
    const taints = node.spec.taints ?? [];
    if (!taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect))
      node.spec.taints = [...taints, { ...NOT_READY }];
  },
};
