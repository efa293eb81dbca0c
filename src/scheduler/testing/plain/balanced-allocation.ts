/**
 * Prefers nodes on which the Pod makes the use of resources more even.
 *
 * 1. How even a node is: 100 × (1 − the standard deviation of the fractions in use), which lies between 50 and 100.
 * 2. The score is how the Pod changes that, moved to between 50 and 100: 75 where nothing changes.
 * 3. A Pod that asks for none of the resources is not scored.
 */
import type { core } from "#api";
import type { ResourceSpec } from "../../framework/index.ts";
import { type PlainCluster, type PlainPlugin, podsOn, scoresOf } from "./cluster.ts";
import { totalOf } from "./node-resources-fit.ts";
import { amountsIn, isScalar, requestsOf } from "./pod-requests.ts";

export const balancedAllocation: PlainPlugin = {
  name: "NodeResourcesBalancedAllocation",
  score({ pod, cluster, args }, feasible) {
    const { resources } = args.NodeResourcesBalancedAllocation;
    const own = requestsOf(pod);
    if (resources.every(({ name }) => (own.get(name) ?? 0n) === 0n)) return undefined;
    return scoresOf(feasible, (node) => {
      const after = evenness(fractions(resources, node, cluster, pod, true));
      const before = evenness(fractions(resources, node, cluster, pod, false));
      return 50 + Math.trunc((50 + after - before) / 2);
    });
  },
};

function fractions(
  resources: readonly ResourceSpec[],
  node: core.Node,
  cluster: PlainCluster,
  pod: core.Pod,
  withPod: boolean,
): readonly number[] {
  const used = totalOf(podsOn(cluster, node).map(requestsOf));
  const own = requestsOf(pod);
  const allocatable = amountsIn(node.status?.allocatable);
  return resources.flatMap(({ name }) => {
    const amount = own.get(name) ?? 0n;
    const all = allocatable.get(name) ?? 0n;
    if (all === 0n || (isScalar(name) && amount === 0n)) return [];
    const requested = (used.get(name) ?? 0n) + (withPod ? amount : 0n);
    return [Math.min(1, Number(requested) / Number(all))];
  });
}

function evenness(parts: readonly number[]): number {
  return Math.trunc((1 - deviation(parts)) * 100);
}

/** Of two it is half their distance, without the rounding of roots and squares. */
function deviation(parts: readonly number[]): number {
  const [first = 0, second = 0] = parts;
  if (parts.length < 2) return 0;
  if (parts.length === 2) return Math.abs((first - second) / 2);
  const mean = parts.reduce((sum, each) => sum + each, 0) / parts.length;
  return Math.sqrt(parts.reduce((sum, each) => sum + (each - mean) * (each - mean), 0) / parts.length);
}
