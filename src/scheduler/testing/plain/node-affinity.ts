/** `nodeSelector`, node affinity, and the affinity that the scheduler's configuration adds to every Pod. */
import { normalised, type PlainPlugin, type PlainQuestion, scoresOf, unresolvable } from "./cluster.ts";
import { fitsRequired, fitsSelector, fitsTerm } from "./node-selector.ts";

export const nodeAffinity: PlainPlugin = {
  name: "NodeAffinity",
  filter({ pod, args }, node) {
    const added = args.NodeAffinity.addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (added !== undefined && !fitsSelector(added, node))
      return unresolvable("node(s) didn't match scheduler-enforced node affinity");
    return fitsRequired(pod, node) ? undefined : unresolvable("node(s) didn't match Pod's node affinity/selector");
  },
  score(question, feasible) {
    const terms = preferredTerms(question);
    if (terms.length === 0) return undefined;
    const weights = scoresOf(feasible, (node) =>
      terms.reduce((sum, { weight, preference }) => (fitsTerm(preference, node) ? sum + weight : sum), 0),
    );
    return normalised(weights, false);
  },
};

function preferredTerms({ pod, args }: PlainQuestion) {
  return [args.NodeAffinity.addedAffinity, pod.spec?.affinity?.nodeAffinity].flatMap(
    (affinity) => affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [],
  );
}
