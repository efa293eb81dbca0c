/**
 * Pod affinity and anti-affinity.
 *
 * 1. A required term is met on nodes whose domain has a Pod that matches all required terms. The first Pod of a group
 *    fits anywhere, if its own terms select itself and the node has all topology keys.
 * 2. Anti-affinity is symmetric: placed Pods reject later ones.
 * 3. Preferences are symmetric, too, and required affinity of placed Pods counts `hardPodAffinityWeight`.
 */
import type { core } from "#api";
import {
  matchesTerm,
  preferredAffinity,
  preferredAntiAffinity,
  requiredAffinity,
  requiredAntiAffinity,
} from "./affinity-terms.ts";
import {
  labelsOf,
  MAX_NODE_SCORE,
  type PlainPlugin,
  type PlainQuestion,
  podsOn,
  scoresOf,
  unresolvable,
  unschedulable,
} from "./cluster.ts";

export const interPodAffinity: PlainPlugin = {
  name: "InterPodAffinity",
  filter(question, node) {
    if (!affinityMet(question, node)) return unresolvable("node(s) didn't match pod affinity rules");
    if (repelled(question, node)) return unschedulable("node(s) didn't match pod anti-affinity rules");
    if (repelledByOthers(question, node))
      return unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
    return undefined;
  },
  score(question, feasible) {
    const { pod, args } = question;
    const own = preferredAffinity(pod).length + preferredAntiAffinity(pod).length;
    if (own === 0 && args.InterPodAffinity.ignorePreferredTermsOfExistingPods) return undefined;
    const pulls = pullsOf(question);
    if (pulls.length === 0) return undefined;
    const sums = scoresOf(feasible, (node) =>
      pulls.filter(({ key, value }) => inDomain(node, key, value)).reduce((sum, { weight }) => sum + weight, 0),
    );
    return spread(sums);
  },
};

interface Neighbour {
  readonly pod: core.Pod;
  readonly node: core.Node;
}

function neighbours({ cluster }: PlainQuestion): readonly Neighbour[] {
  return cluster.nodes.flatMap((node) => podsOn(cluster, node).map((pod) => ({ pod, node })));
}

function inDomain(node: core.Node, key: string, value: string): boolean {
  return domainOf(node, key) === value;
}

function domainOf(node: core.Node, key: string): string | undefined {
  const labels = labelsOf(node);
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function sameDomain(a: core.Node, b: core.Node, key: string): boolean {
  const domain = domainOf(a, key);
  return domain !== undefined && domain === domainOf(b, key);
}

function affinityMet(question: PlainQuestion, node: core.Node): boolean {
  const { pod, cluster } = question;
  const terms = requiredAffinity(pod);
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => domainOf(node, topologyKey) === undefined)) return false;
  const matching = neighbours(question).filter((other) =>
    terms.every((term) => matchesTerm(term, pod, other.pod, cluster)),
  );
  if (terms.every(({ topologyKey }) => matching.some((other) => sameDomain(other.node, node, topologyKey))))
    return true;
  const nobody = matching.every((other) =>
    terms.every(({ topologyKey }) => domainOf(other.node, topologyKey) === undefined),
  );
  return nobody && terms.every((term) => matchesTerm(term, pod, pod, cluster));
}

function repelled(question: PlainQuestion, node: core.Node): boolean {
  const { pod, cluster } = question;
  return requiredAntiAffinity(pod).some((term) =>
    neighbours(question).some(
      (other) => sameDomain(other.node, node, term.topologyKey) && matchesTerm(term, pod, other.pod, cluster),
    ),
  );
}

function repelledByOthers(question: PlainQuestion, node: core.Node): boolean {
  const { pod, cluster } = question;
  return neighbours(question).some((other) =>
    requiredAntiAffinity(other.pod).some(
      (term) => sameDomain(other.node, node, term.topologyKey) && matchesTerm(term, other.pod, pod, cluster),
    ),
  );
}

/** Nodes of the domain `key`=`value` score `weight` more. */
interface Pull {
  readonly key: string;
  readonly value: string;
  readonly weight: number;
}

function pullsOf(question: PlainQuestion): readonly Pull[] {
  const { pod, cluster, args } = question;
  const hard = args.InterPodAffinity.hardPodAffinityWeight;
  const pulls: Pull[] = [];
  for (const other of neighbours(question)) {
    const consider = (term: core.PodAffinityTerm, owner: core.Pod, meant: core.Pod, weight: number) => {
      const value = domainOf(other.node, term.topologyKey);
      if (value !== undefined && matchesTerm(term, owner, meant, cluster))
        pulls.push({ key: term.topologyKey, value, weight });
    };
    for (const { weight, podAffinityTerm } of preferredAffinity(pod)) consider(podAffinityTerm, pod, other.pod, weight);
    for (const { weight, podAffinityTerm } of preferredAntiAffinity(pod))
      consider(podAffinityTerm, pod, other.pod, -weight);
    if (hard > 0) for (const term of requiredAffinity(other.pod)) consider(term, other.pod, pod, hard);
    for (const { weight, podAffinityTerm } of preferredAffinity(other.pod))
      consider(podAffinityTerm, other.pod, pod, weight);
    for (const { weight, podAffinityTerm } of preferredAntiAffinity(other.pod))
      consider(podAffinityTerm, other.pod, pod, -weight);
  }
  return pulls;
}

/** The lowest becomes 0, the highest 100. */
function spread(sums: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const [lowest, highest] = [Math.min(...sums.values()), Math.max(...sums.values())];
  const range = highest - lowest;
  return new Map(
    [...sums].map(([name, sum]) => [name, range === 0 ? 0 : Math.trunc(MAX_NODE_SCORE * ((sum - lowest) / range))]),
  );
}
