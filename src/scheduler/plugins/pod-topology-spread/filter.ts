/**
 * DoNotSchedule constraints: with the pod, its domain may have at most `maxSkew` more selected pods than the domain
 * with the fewest.
 *
 * 1. Domains are those of nodes with all topology keys that count by the constraint's policies. Terminating pods do not
 *    count.
 * 2. With fewer domains than `minDomains`, the lowest count is taken as zero.
 */
import {
  type ClusterFilter,
  type ClusterView,
  type Domains,
  type NodeInfo,
  PASS,
  type PodInfo,
  ready,
  rejectionsOf,
  SKIP,
  type SpreadConstraint,
  type Verdict,
} from "../../framework/index.ts";
import type { Included, Inclusion } from "./inclusion.ts";

const rejections = rejectionsOf("PodTopologySpread");
const TOO_SKEWED = rejections.unschedulable("node(s) didn't match pod topology spread constraints");
const NO_LABEL = rejections.unresolvable(
  "node(s) didn't match pod topology spread constraints (missing required label)",
);
/** The lowest count if there is no domain. */
const NONE = 2 ** 31 - 1;

export interface SpreadState {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly constraint: SpreadConstraint;
  readonly domains: Domains;
  /** By domain; -1 if none of its nodes counts. */
  readonly counts: Int32Array;
  readonly present: number;
  readonly lowest: number;
  readonly self: 0 | 1;
  readonly included: Included | undefined;
}

export function spreadFilter(
  constraintsOf: (pod: PodInfo) => readonly SpreadConstraint[],
  inclusion: Inclusion,
): ClusterFilter<SpreadState> {
  return {
    reads: "cluster",
    prepare(pod, view) {
      const constraints = constraintsOf(pod).filter(({ hard }) => hard);
      if (constraints.length === 0) return SKIP;
      const includedBy = inclusion.of(pod.ask, view);
      const allDomains = constraints.map(({ topologyKey }) => view.domains(topologyKey));
      const rules = constraints.map((constraint, at) => {
        const domains = allDomains[at] ?? view.domains(constraint.topologyKey);
        const included = includedBy(constraint);
        const counts = countDomains(constraint, domains, allDomains, included, view);
        const self = view.matches(constraint.select, pod) ? 1 : 0;
        return withLowest({ constraint, domains, counts, present: 0, lowest: 0, self, included });
      });
      return ready({ pod, view, rules });
    },
    check: (state, node) => verdictOn(state.rules, node.index),
    sweep({ rules }, open) {
      const { indexes, count } = open;
      for (let at = 0; at < count; at++) {
        const index = indexes[at] ?? 0;
        const verdict = verdictOn(rules, index);
        if (verdict.kind !== "pass") open.reject(index, verdict);
      }
    },
    withPod: (state, pod, node) => withChange(state, pod, node, 1),
    withoutPod: (state, pod, node) => withChange(state, pod, node, -1),
  };
}

function countDomains(
  { select }: SpreadConstraint,
  { of, size }: Domains,
  allDomains: readonly Domains[],
  included: Included | undefined,
  view: ClusterView,
): Int32Array {
  const counts = new Int32Array(size).fill(-1);
  const selected = isEmpty(select) ? undefined : view.counts(select, { terminating: false });
  const nodes = view.nodes.length;
  for (let node = 0; node < nodes; node++) {
    const domain = of[node] ?? -1;
    if (domain === -1 || included?.(node) === false) continue;
    if (allDomains.length > 1 && allDomains.some((other) => (other.of[node] ?? -1) === -1)) continue;
    counts[domain] = Math.max(0, counts[domain] ?? 0) + (selected?.[node] ?? 0);
  }
  return counts;
}

/** An empty selector selects no pods here. */
export function isEmpty({ selector }: SpreadConstraint["select"]): boolean {
  return selector.nothing || selector.requirements.length === 0;
}

function withLowest(rule: Rule): Rule {
  const { counts, constraint } = rule;
  let present = 0;
  let lowest = NONE;
  for (let domain = 0; domain < counts.length; domain++) {
    const count = counts[domain] ?? -1;
    if (count === -1) continue;
    present += 1;
    if (count < lowest) lowest = count;
  }
  return { ...rule, present, lowest: present < constraint.minDomains ? 0 : lowest };
}

function verdictOn(rules: readonly Rule[], node: number): Verdict {
  for (const { domains, counts, lowest, self, constraint } of rules) {
    const domain = domains.of[node] ?? -1;
    if (domain === -1) return NO_LABEL;
    if (Math.max(0, counts[domain] ?? 0) + self - lowest > constraint.maxSkew) return TOO_SKEWED;
  }
  return PASS;
}

function withChange(state: SpreadState, other: PodInfo, node: NodeInfo, by: 1 | -1): SpreadState {
  const { pod, view } = state;
  if (other.namespace !== pod.namespace || other.terminating) return state;
  const { index } = node;
  if (state.rules.some(({ domains }) => (domains.of[index] ?? -1) === -1)) return state;
  const rules = state.rules.map((rule) => {
    const { constraint, included, domains } = rule;
    if (isEmpty(constraint.select) || included?.(index) === false || !view.matches(constraint.select, other))
      return rule;
    const counts = rule.counts.slice();
    const domain = domains.of[index] ?? 0;
    counts[domain] = Math.max(0, counts[domain] ?? 0) + by;
    return withLowest({ ...rule, counts });
  });
  return { ...state, rules };
}
