/** Rejects nodes with untolerated taints, and prefers nodes with fewer untolerated PreferNoSchedule taints. */
import { normalised, type PlainPlugin, scoresOf, unresolvable } from "./cluster.ts";
import { forbiddingTaint, tolerated } from "./taints.ts";

export const taintToleration: PlainPlugin = {
  name: "TaintToleration",
  filter({ pod }, node) {
    return forbiddingTaint(pod, node) === undefined ? undefined : unresolvable("node(s) had untolerated taint(s)");
  },
  score({ pod }, feasible) {
    const tolerations = (pod.spec?.tolerations ?? []).filter(
      ({ effect }) => effect === undefined || effect === "PreferNoSchedule",
    );
    const disliked = scoresOf(
      feasible,
      (node) =>
        (node.spec?.taints ?? []).filter(
          (taint) => taint.effect === "PreferNoSchedule" && !tolerated(tolerations, taint),
        ).length,
    );
    return normalised(disliked, true);
  },
};
