/** A Pod fits if its requests fit into the free resources. Scores by one of three strategies. */
import { type core, isExtendedResource } from "#api";
import type { ResourceSpec, ScoringStrategy, ShapePoint } from "../../framework/index.ts";
import { type PlainCluster, type PlainPlugin, type PlainQuestion, podsOn, scoresOf } from "./cluster.ts";
import {
  type Amounts,
  add,
  amountsIn,
  isScalar,
  requestsOf,
  scoringRequestsOf,
  scoringRequestsOfPlaced,
} from "./pod-requests.ts";

export const nodeResourcesFit: PlainPlugin = {
  name: "NodeResourcesFit",
  filter(question, node) {
    const short = missing(question, node);
    return short.length === 0
      ? undefined
      : { reasons: short.map(({ reason }) => reason), unresolvable: short.some((each) => each.forever) };
  },
  score({ pod, cluster, args }, feasible) {
    const strategy = args.NodeResourcesFit.scoringStrategy;
    return scoresOf(feasible, (node) => {
      const figures = strategy.resources.map((spec) => figureOf(spec, pod, node, cluster));
      return strategyScore(strategy, figures);
    });
  },
};

interface Shortage {
  readonly reason: string;
  /** Even the empty node would not be enough. */
  readonly forever: boolean;
}

function missing({ pod, cluster, args }: PlainQuestion, node: core.Node): readonly Shortage[] {
  const allocatable = amountsIn(node.status?.allocatable);
  const there = podsOn(cluster, node);
  const short: Shortage[] = [];
  if (BigInt(there.length + 1) > (allocatable.get("pods") ?? 0n))
    short.push({ reason: "Too many pods", forever: false });
  const used = totalOf(there.map(requestsOf));
  const asked = requestsOf(pod);
  const names = ["cpu", "memory", "ephemeral-storage", ...[...asked.keys()].filter(isScalar).sort()];
  for (const name of names) {
    const amount = asked.get(name) ?? 0n;
    if (amount === 0n || isIgnored(name, args.NodeResourcesFit)) continue;
    const all = allocatable.get(name) ?? 0n;
    if (amount > all - (used.get(name) ?? 0n)) short.push({ reason: `Insufficient ${name}`, forever: amount > all });
  }
  return short;
}

function isIgnored(
  name: string,
  { ignoredResources, ignoredResourceGroups }: PlainQuestion["args"]["NodeResourcesFit"],
): boolean {
  if (!isExtendedResource(name)) return false;
  return ignoredResources.includes(name) || ignoredResourceGroups.includes(name.split("/")[0] ?? "");
}

export function totalOf(amounts: readonly Amounts[]): Amounts {
  const total = new Map<string, bigint>();
  for (const each of amounts) add(total, each);
  return total;
}

/** For one resource: requests on the node with the Pod, and capacity. */
export interface Figure {
  readonly requested: bigint;
  readonly allocatable: bigint;
  readonly weight: bigint;
}

function figureOf({ name, weight }: ResourceSpec, pod: core.Pod, node: core.Node, cluster: PlainCluster): Figure {
  const own = scoringRequestsOf(pod).get(name) ?? 0n;
  const allocatable = isScalar(name) && own === 0n ? 0n : (amountsIn(node.status?.allocatable).get(name) ?? 0n);
  const others = totalOf(podsOn(cluster, node).map(scoringRequestsOfPlaced)).get(name) ?? 0n;
  return { requested: others + own, allocatable, weight: BigInt(weight) };
}

export function strategyScore(strategy: ScoringStrategy, figures: readonly Figure[]): number {
  const shape = strategy.requestedToCapacityRatio?.shape ?? [];
  let sum = 0n;
  let weights = 0n;
  for (const { requested, allocatable, weight } of figures) {
    if (allocatable === 0n) continue;
    const score = resourceScore(strategy.type, shape, requested, allocatable);
    if (strategy.type === "RequestedToCapacityRatio" && score === 0n) continue;
    sum += score * weight;
    weights += weight;
  }
  if (weights === 0n) return 0;
  return strategy.type === "RequestedToCapacityRatio"
    ? Math.round(Number(sum) / Number(weights))
    : Number(sum / weights);
}

function resourceScore(
  type: ScoringStrategy["type"],
  shape: readonly ShapePoint[],
  requested: bigint,
  allocatable: bigint,
): bigint {
  switch (type) {
    case "LeastAllocated":
      return requested > allocatable ? 0n : ((allocatable - requested) * 100n) / allocatable;
    case "MostAllocated":
      return requested > allocatable ? 100n : (requested * 100n) / allocatable;
    case "RequestedToCapacityRatio":
      return onLine(shape, requested > allocatable ? 100n : (requested * 100n) / allocatable);
  }
}

/** Integer interpolation; the shape's scores of 0 to 10 become 0 to 100. */
function onLine(shape: readonly ShapePoint[], utilization: bigint): bigint {
  const points = shape.map((point) => ({ x: BigInt(point.utilization), y: BigInt(point.score) * 10n }));
  for (const [i, { x, y }] of points.entries()) {
    if (utilization > x) continue;
    const before = points[i - 1];
    return before === undefined ? y : before.y + ((y - before.y) * (utilization - before.x)) / (x - before.x);
  }
  return points.at(-1)?.y ?? 0n;
}
