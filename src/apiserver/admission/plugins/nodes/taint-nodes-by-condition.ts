/** TaintNodesByCondition: a new Node gets the not-ready taint, so that no Pod is scheduled before it is ready. */
import type { core, Draft } from "#api";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" } as const;

export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  mutates: [
    rule("CREATE", "nodes", ({ object }) => {
      const node = object as Draft<core.Node>;
      node.spec ??= {};
      const taints = node.spec.taints ?? [];
      if (!taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect))
        node.spec.taints = [...taints, { ...NOT_READY }];
    }),
  ],
};
