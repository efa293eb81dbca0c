/**
 * Required affinity and anti-affinity.
 *
 * 1. A required term is met if a pod that all required terms select is in the node's domain. If there is no such pod at
 *    all, the first pod of a group fits anywhere, provided that its terms select itself.
 * 2. Anti-affinity is symmetric: placed pods reject pods that their own anti-affinity selects.
 */
import {
  type ClusterFilter,
  type ClusterView,
  type NodeInfo,
  PASS,
  type PodInfo,
  ready,
  rejectionsOf,
  SKIP,
  type Verdict,
} from "../../framework/index.ts";
import { addCounts, changed, type Deltas, emptyTally, NO_DELTAS, sumAt, Tallies, type Tally } from "./tally.ts";

const rejections = rejectionsOf("InterPodAffinity");
const NO_NEIGHBOUR = rejections.unresolvable("node(s) didn't match pod affinity rules");
const UNWANTED_NEIGHBOUR = rejections.unschedulable("node(s) didn't match pod anti-affinity rules");
const UNWANTED = rejections.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");

export interface AffinityState {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  /** By required term: pods that all required terms select. */
  readonly wanted: readonly Tally[];
  /** No placed pod matches, but the pod itself does. */
  readonly isFirstOfGroup: boolean;
  readonly selectsItself: boolean;
  /** By topology key: pods that the pod's anti-affinity selects. */
  readonly unwanted: readonly (readonly [key: string, tally: Tally])[];
  /** By topology key: pods whose anti-affinity selects the pod. */
  readonly repelling: readonly (readonly [key: string, tally: Tally])[];
  readonly deltas: Deltas;
}

export const affinityFilter: ClusterFilter<AffinityState> = {
  reads: "cluster",
  prepare(pod, view) {
    const about = view.termsAbout(pod, "requiredAnti");
    const { required, requiredAnti } = pod.terms;
    if (about.length + required.length + requiredAnti.length === 0) return SKIP;
    const nodes = view.nodes.length;
    const tallies = () => new Tallies((key) => view.domains(key));
    const repelling = tallies();
    for (const { term, owners } of about) addCounts(repelling.of(term.topologyKey), owners, nodes);
    const unwanted = tallies();
    for (const { topologyKey, select } of requiredAnti) {
      addCounts(unwanted.of(topologyKey), view.counts(select), nodes);
    }
    const wanted = tallies();
    const keys = new Set(required.map(({ topologyKey }) => topologyKey));
    let some = false;
    if (keys.size > 0) {
      const counts = view.countsOfAll(required.map(({ select }) => select));
      for (const key of keys) some = addCounts(wanted.of(key), counts, nodes) || some;
    }
    const selectsItself = required.length > 0 && required.every(({ select }) => view.matches(select, pod));
    return ready({
      pod,
      view,
      wanted: wanted.all,
      isFirstOfGroup: !some && selectsItself,
      selectsItself,
      unwanted: [...new Set(requiredAnti.map(({ topologyKey }) => topologyKey))].map((key) => [key, unwanted.of(key)]),
      repelling: [...new Set(about.map(({ term }) => term.topologyKey))].map((key) => [key, repelling.of(key)]),
      deltas: NO_DELTAS,
    });
  },
  check: (state, node) => verdictOn(state, node.index),
  sweep(state, open) {
    const { indexes, count } = open;
    for (let at = 0; at < count; at++) {
      const index = indexes[at] ?? 0;
      const verdict = verdictOn(state, index);
      if (verdict.kind !== "pass") open.reject(index, verdict);
    }
  },
  withPod: (state, pod, node) => withChange(state, pod, node, 1),
  withoutPod: (state, pod, node) => withChange(state, pod, node, -1),
};

function verdictOn({ wanted, isFirstOfGroup, unwanted, repelling, deltas }: AffinityState, node: number): Verdict {
  let met = true;
  for (const tally of wanted) {
    const domain = tally.domains.of[node] ?? -1;
    if (domain === -1) return NO_NEIGHBOUR;
    if (sumAt(tally, domain, deltas) <= 0) met = false;
  }
  if (!met && !isFirstOfGroup) return NO_NEIGHBOUR;
  for (const [, tally] of unwanted) {
    const domain = tally.domains.of[node] ?? -1;
    if (domain !== -1 && sumAt(tally, domain, deltas) > 0) return UNWANTED_NEIGHBOUR;
  }
  for (const [, tally] of repelling) {
    const domain = tally.domains.of[node] ?? -1;
    if (domain !== -1 && sumAt(tally, domain, deltas) > 0) return UNWANTED;
  }
  return PASS;
}

function withChange(state: AffinityState, other: PodInfo, node: NodeInfo, by: 1 | -1): AffinityState {
  const { pod, view, wanted, unwanted } = state;
  let { deltas, repelling } = state;
  const domainOf = ({ domains }: Tally) => domains.of[node.index] ?? -1;
  for (const { topologyKey, select } of other.terms.requiredAnti) {
    if (!view.matches(select, pod)) continue;
    let tally = repelling.find(([key]) => key === topologyKey)?.[1];
    if (tally === undefined) {
      // A nominated pod may be the first with anti-affinity by this key.
      tally = emptyTally(view.domains(topologyKey));
      repelling = [...repelling, [topologyKey, tally]];
    }
    deltas = changed(deltas, tally, domainOf(tally), by);
  }
  for (const { topologyKey, select } of pod.terms.requiredAnti) {
    const tally = unwanted.find(([key]) => key === topologyKey)?.[1];
    if (tally !== undefined && view.matches(select, other)) deltas = changed(deltas, tally, domainOf(tally), by);
  }
  const isWanted = wanted.length > 0 && pod.terms.required.every(({ select }) => view.matches(select, other));
  if (isWanted) for (const tally of wanted) deltas = changed(deltas, tally, domainOf(tally), by);
  return { ...state, repelling, deltas, isFirstOfGroup: isWanted ? isFirst(state, deltas) : state.isFirstOfGroup };
}

function isFirst({ wanted, selectsItself }: AffinityState, deltas: Deltas): boolean {
  const some = wanted.some((tally) => tally.sums.some((_, domain) => sumAt(tally, domain, deltas) > 0));
  return selectsItself && !some;
}
