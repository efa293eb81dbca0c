/**
 * Topology spread constraints.
 *
 * 1. DoNotSchedule: with the Pod on the node, its domain may have at most `maxSkew` more matching Pods than the domain
 *    with the fewest. With fewer domains than `minDomains`, the lowest count is zero.
 * 2. Domains are those of nodes with all topology keys that count by the policies. Terminating Pods do not count.
 * 3. ScheduleAnyway: fewer matching Pods in the domain score higher; topologies with many domains weigh more.
 */
import { type core, type LabelMatcher, matcherOf, matcherOfSelector } from "#api";
import {
  labelsOf,
  MAX_NODE_SCORE,
  nameOf,
  type PlainCluster,
  type PlainPlugin,
  type PlainQuestion,
  podsOn,
  unresolvable,
  unschedulable,
} from "./cluster.ts";
import { defaultSelector } from "./default-selector.ts";
import { fitsRequired } from "./node-selector.ts";
import { forbiddingTaint } from "./taints.ts";

const HOSTNAME = "kubernetes.io/hostname";
const NOT_MET = "node(s) didn't match pod topology spread constraints";

const SYSTEM_DEFAULTS: readonly core.TopologySpreadConstraint[] = [
  { topologyKey: HOSTNAME, maxSkew: 3, whenUnsatisfiable: "ScheduleAnyway" },
  { topologyKey: "topology.kubernetes.io/zone", maxSkew: 5, whenUnsatisfiable: "ScheduleAnyway" },
];

export const podTopologySpread: PlainPlugin = {
  name: "PodTopologySpread",
  filter(question, node) {
    const { pod, cluster } = question;
    const constraints = constraintsOf(question, "DoNotSchedule");
    for (const constraint of constraints) {
      const domain = domainOf(node, constraint.key);
      if (domain === undefined) return unresolvable(`${NOT_MET} (missing required label)`);
      const counts = countsByDomain(question, constraint, constraints, cluster.nodes);
      const self = constraint.selector.matches(labelsOf(pod)) ? 1 : 0;
      const emptiest = counts.size < constraint.minDomains ? 0 : Math.min(2 ** 31 - 1, ...counts.values());
      if ((counts.get(domain) ?? 0) + self - emptiest > constraint.maxSkew) return unschedulable(NOT_MET);
    }
    return undefined;
  },
  score(question, feasible) {
    const constraints = constraintsOf(question, "ScheduleAnyway");
    if (constraints.length === 0) return undefined;
    const scored = feasible.filter((node) => !needsAllKeys(question) || hasKeys(node, constraints));
    const costs = new Map(scored.map((node) => [nameOf(node), cost(question, node, scored, constraints)]));
    const [lowest, highest] = [Math.min(...costs.values()), Math.max(0, ...costs.values())];
    const scoreOf = (name: string) => {
      const own = costs.get(name);
      if (own === undefined) return 0;
      return highest === 0 ? MAX_NODE_SCORE : Math.trunc((MAX_NODE_SCORE * (highest + lowest - own)) / highest);
    };
    return new Map(feasible.map((node) => [nameOf(node), scoreOf(nameOf(node))]));
  },
};

interface Constraint {
  readonly key: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelMatcher;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

function constraintsOf(
  { pod, cluster, args }: PlainQuestion,
  action: core.TopologySpreadConstraint["whenUnsatisfiable"],
): readonly Constraint[] {
  const own = pod.spec?.topologySpreadConstraints ?? [];
  if (own.length > 0) {
    return own
      .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
      .map((each) => parsed(each, followingLabels(each, pod)));
  }
  const { defaultingType, defaultConstraints } = args.PodTopologySpread;
  const defaults = defaultingType === "System" ? SYSTEM_DEFAULTS : defaultConstraints;
  const selector = defaultSelector(pod, cluster);
  if (selector === undefined) return [];
  return defaults.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action).map((each) => parsed(each, selector));
}

function parsed(constraint: core.TopologySpreadConstraint, selector: LabelMatcher): Constraint {
  return {
    key: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selector,
    honorsAffinity: (constraint.nodeAffinityPolicy ?? "Honor") === "Honor",
    honorsTaints: (constraint.nodeTaintsPolicy ?? "Ignore") === "Honor",
  };
}

/** `matchLabelKeys`: only Pods with the same values as this one. */
function followingLabels({ labelSelector, matchLabelKeys = [] }: core.TopologySpreadConstraint, pod: core.Pod) {
  const selector = matcherOfSelector(labelSelector);
  const own = Object.entries(labelsOf(pod)).filter(([key]) => matchLabelKeys.includes(key));
  if (selector.nothing || own.length === 0) return selector;
  const same = own.map(([key, value]) => ({ key, operator: "=" as const, values: [value] }));
  return matcherOf([...same, ...selector.requirements]);
}

function domainOf(node: core.Node, key: string): string | undefined {
  const labels = labelsOf(node);
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function hasKeys(node: core.Node, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ key }) => domainOf(node, key) !== undefined);
}

/** With the built-in defaults, nodes without a zone are still spread by host name. */
function needsAllKeys({ pod, args }: PlainQuestion): boolean {
  const hasOwn = (pod.spec?.topologySpreadConstraints ?? []).length > 0;
  return hasOwn || args.PodTopologySpread.defaultingType !== "System";
}

function matchingOn(node: core.Node, selector: LabelMatcher, pod: core.Pod, cluster: PlainCluster): number {
  if (!selector.nothing && selector.requirements.length === 0) return 0;
  return podsOn(cluster, node).filter(
    ({ metadata }) =>
      metadata.deletionTimestamp === undefined &&
      metadata.namespace === pod.metadata.namespace &&
      selector.matches(metadata.labels),
  ).length;
}

function countsByDomain(
  question: PlainQuestion,
  constraint: Constraint,
  constraints: readonly Constraint[],
  nodes: readonly core.Node[],
): ReadonlyMap<string, number> {
  const { pod, cluster } = question;
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (!hasKeys(node, constraints) || !counted(constraint, pod, node)) continue;
    const domain = domainOf(node, constraint.key) ?? "";
    counts.set(domain, (counts.get(domain) ?? 0) + matchingOn(node, constraint.selector, pod, cluster));
  }
  return counts;
}

function counted({ honorsAffinity, honorsTaints }: Constraint, pod: core.Pod, node: core.Node): boolean {
  if (honorsAffinity && !fitsRequired(pod, node)) return false;
  return !honorsTaints || forbiddingTaint(pod, node) === undefined;
}

function cost(
  question: PlainQuestion,
  node: core.Node,
  scored: readonly core.Node[],
  constraints: readonly Constraint[],
): number {
  const { pod, cluster } = question;
  let sum = 0;
  for (const constraint of constraints) {
    const domain = domainOf(node, constraint.key);
    if (domain === undefined) continue;
    const isHost = constraint.key === HOSTNAME;
    const domains = isHost ? scored.length : new Set(scored.map((each) => domainOf(each, constraint.key) ?? "")).size;
    const matching = isHost
      ? matchingOn(node, constraint.selector, pod, cluster)
      : inDomain(question, constraint, constraints, domain);
    sum += matching * Math.log(domains + 2) + (constraint.maxSkew - 1);
  }
  return Math.round(sum);
}

function inDomain(
  question: PlainQuestion,
  constraint: Constraint,
  constraints: readonly Constraint[],
  domain: string,
): number {
  const { pod, cluster } = question;
  return cluster.nodes
    .filter((node) => !needsAllKeys(question) || hasKeys(node, constraints))
    .filter((node) => counted(constraint, pod, node) && domainOf(node, constraint.key) === domain)
    .reduce((sum, node) => sum + matchingOn(node, constraint.selector, pod, cluster), 0);
}
