/**
 * The scoring strategies of NodeResourcesFit: how full a node would be with the pod.
 *
 * 1. Integers throughout, rounded towards zero, like kube-scheduler.
 * 2. Resources that the node does not have are ignored, and so are extended resources that the pod does not request.
 */
import { MAX_SCORE, type NodeAsk, type NodeInfo, type ScoringStrategy, type ShapePoint } from "../framework/index.ts";

/** A resource with the amount that an ask requests. */
export interface ScoredResource {
  readonly name: string;
  readonly weight: number;
  /** Its position in a node's arrays. */
  readonly resource: number;
  readonly asked: number;
}

export type ResourceScore = (resources: readonly ScoredResource[], node: NodeInfo) => number;

/** Shapes have scores up to 10. */
const SHAPE_SCALE = 10;

export function resourceScore({ type, requestedToCapacityRatio }: ScoringStrategy): ResourceScore {
  switch (type) {
    case "LeastAllocated":
      return weighted(least);
    case "MostAllocated":
      return weighted(most);
    case "RequestedToCapacityRatio":
      return ratioScore(requestedToCapacityRatio?.shape ?? []);
  }
}

/** For cpu and memory, containers without requests count with default amounts. */
export function usedWith({ name, resource, asked }: ScoredResource, node: NodeInfo): number {
  if (name === "cpu") return node.scoredCpu + asked;
  if (name === "memory") return node.scoredMemory + asked;
  return (node.requested[resource] ?? 0) + asked;
}

function weighted(of: (used: number, capacity: number) => number): ResourceScore {
  return (resources, node) => {
    let sum = 0;
    let weights = 0;
    for (const each of resources) {
      const capacity = node.allocatable[each.resource] ?? 0;
      if (capacity === 0) continue;
      sum += each.weight * of(usedWith(each, node), capacity);
      weights += each.weight;
    }
    return weights === 0 ? 0 : Math.trunc(sum / weights);
  };
}

function least(used: number, capacity: number): number {
  return used > capacity ? 0 : Math.trunc(((capacity - used) * MAX_SCORE) / capacity);
}

function most(used: number, capacity: number): number {
  return Math.trunc((Math.min(used, capacity) * MAX_SCORE) / capacity);
}

/** Resources with score zero are ignored; the mean is rounded to the nearest integer. */
function ratioScore(shape: readonly ShapePoint[]): ResourceScore {
  const of = (used: number, capacity: number) =>
    capacity === 0 || used > capacity ? onShape(shape, 100) : onShape(shape, Math.trunc((used * 100) / capacity));
  return (resources, node) => {
    let sum = 0;
    let weights = 0;
    for (const each of resources) {
      const capacity = node.allocatable[each.resource] ?? 0;
      if (capacity === 0) continue;
      const score = of(usedWith(each, node), capacity);
      if (score <= 0) continue;
      sum += each.weight * score;
      weights += each.weight;
    }
    return weights === 0 ? 0 : Math.round(sum / weights);
  };
}

function onShape(shape: readonly ShapePoint[], utilization: number): number {
  const after = shape.findIndex((point) => utilization <= point.utilization);
  const [here, before] = after === -1 ? [shape.at(-1), undefined] : [shape[after], shape[after - 1]];
  if (here === undefined) return 0;
  if (before === undefined) return here.score * SHAPE_SCALE;
  const rise = (here.score - before.score) * SHAPE_SCALE;
  const part = utilization - before.utilization;
  return before.score * SHAPE_SCALE + Math.trunc((rise * part) / (here.utilization - before.utilization));
}

export function askedAmount(ask: NodeAsk, name: string): number {
  if (name === "cpu") return ask.scored.cpu;
  if (name === "memory") return ask.scored.memory;
  return ask.requests.find((request) => request.name === name)?.amount ?? 0;
}
