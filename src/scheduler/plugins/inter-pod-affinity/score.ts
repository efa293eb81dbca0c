/** Preferred affinity and anti-affinity, of the pod and of the placed pods. */
import {
  type ClusterScore,
  type FittingNodes,
  type InterPodAffinityArgs,
  MAX_SCORE,
  ready,
  type Scores,
  SKIP,
} from "../../framework/index.ts";
import { addCounts, Tallies, type Tally } from "./tally.ts";

export function affinityScore(args: InterPodAffinityArgs): ClusterScore<readonly Tally[]> {
  const { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods } = args;
  return {
    reads: "cluster",
    prepare(pod, view) {
      const { preferred } = pod.terms;
      if (preferred.length === 0 && ignorePreferredTermsOfExistingPods) return SKIP;
      const hard = hardPodAffinityWeight > 0 ? view.termsAbout(pod, "required") : [];
      const soft = view.termsAbout(pod, "preferred");
      if (preferred.length + hard.length + soft.length === 0) return SKIP;
      const nodes = view.nodes.length;
      const tallies = new Tallies((key) => view.domains(key));
      let any = false;
      for (const { topologyKey, select, weight } of preferred) {
        any = addCounts(tallies.of(topologyKey), view.counts(select), nodes, weight) || any;
      }
      for (const { term, owners } of hard) {
        any = addCounts(tallies.of(term.topologyKey), owners, nodes, hardPodAffinityWeight) || any;
      }
      for (const { term, owners, weight } of soft) {
        any = addCounts(tallies.of(term.topologyKey), owners, nodes, weight) || any;
      }
      return any ? ready(tallies.all) : SKIP;
    },
    of: (tallies, node) => sumOn(tallies, node.index),
    sweep(tallies, { indexes, count }, scores) {
      for (let at = 0; at < count; at++) {
        const index = indexes[at] ?? 0;
        scores[index] = sumOn(tallies, index);
      }
    },
    normalize: (_, scores, nodes) => stretch(scores, nodes),
  };
}

function sumOn(tallies: readonly Tally[], node: number): number {
  let sum = 0;
  for (const { domains, sums } of tallies) {
    const domain = domains.of[node] ?? -1;
    if (domain !== -1) sum += sums[domain] ?? 0;
  }
  return sum;
}

/** The lowest becomes 0, the highest MAX_SCORE. */
function stretch(scores: Scores, { indexes, count }: FittingNodes): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < count; at++) {
    const score = scores[indexes[at] ?? 0] ?? 0;
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  const range = highest - lowest;
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    scores[index] = range > 0 ? Math.trunc(MAX_SCORE * (((scores[index] ?? 0) - lowest) / range)) : 0;
  }
}
