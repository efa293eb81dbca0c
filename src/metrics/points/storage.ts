/**
 * The last two points of every node and container, in memory.
 *
 * 1. A point with the time of the last one is no news: kubelets may measure more rarely than they are asked.
 * 2. A container that has started again has only one point, unless it is so new that its start is the other.
 * 3. What a scrape no longer has is forgotten. A node that did not answer is forgotten with its Pods.
 */
import type { NodePoints, Point } from "./point.ts";
import { type Usage, usageBetween } from "./usage.ts";

/** A younger container has used too little for a rate. Upstream waits for 10 s. */
const FRESH_AFTER_MS = 2_000;
/** In resolutions: an older one was there in the last round, unless that came late. */
const FRESH_UNTIL = 1.5;

interface Pair {
  readonly last: Point;
  readonly before: Point | undefined;
}

export interface PodUsage {
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
  /** Of the container that was measured first. */
  readonly atMs: number;
  readonly windowMs: number;
}

export class PointStorage {
  readonly #resolutionMs: number;
  #nodes = new Map<string, Pair>();
  #pods = new Map<string, ReadonlyMap<string, Pair>>();

  constructor(resolutionMs: number) {
    this.#resolutionMs = resolutionMs;
  }

  /** Everything that one round of scrapes has found, by node. */
  store(round: ReadonlyMap<string, NodePoints>): void {
    const nodes = new Map<string, Pair>();
    const pods = new Map<string, ReadonlyMap<string, Pair>>();
    for (const [name, { node, pods: found }] of round) {
      if (node !== undefined) nodes.set(name, pairOf(node, this.#nodes.get(name)));
      for (const [pod, containers] of found) {
        const known = this.#pods.get(pod);
        const pairs = [...containers].map(([container, point]) => {
          const before = known?.get(container);
          const isKnown = before !== undefined && (point.startedAtMs ?? 0) < before.last.atMs;
          const pair = (isKnown ? undefined : this.#fresh(point)) ?? pairOf(point, before);
          return [container, pair] as const;
        });
        pods.set(pod, new Map(pairs));
      }
    }
    this.#nodes = nodes;
    this.#pods = pods;
  }

  /** Undefined: it has not been measured twice yet. */
  node(name: string): Usage | undefined {
    const pair = this.#nodes.get(name);
    return pair?.before && usageBetween(pair.before, pair.last);
  }

  /** Undefined unless all containers have been measured twice. */
  pod(namespace: string, name: string): PodUsage | undefined {
    const pairs = this.#pods.get(`${namespace}/${name}`);
    if (pairs === undefined) return undefined;
    const containers: { name: string; usage: Usage }[] = [];
    for (const [container, { before, last }] of pairs) {
      if (before === undefined) return undefined;
      const usage = usageBetween(before, last);
      if (usage !== undefined) containers.push({ name: container, usage });
    }
    const [first] = [...containers].sort((a, b) => a.usage.atMs - b.usage.atMs);
    return first && { containers, atMs: first.usage.atMs, windowMs: first.usage.windowMs };
  }

  get size(): { readonly nodes: number; readonly pods: number } {
    return { nodes: this.#nodes.size, pods: this.#pods.size };
  }

  /** A new container starts from nothing: so a Pod has figures after one scrape. */
  #fresh(point: Point): Pair | undefined {
    const { startedAtMs, atMs } = point;
    if (startedAtMs === undefined) return undefined;
    const ageMs = atMs - startedAtMs;
    if (ageMs < FRESH_AFTER_MS || ageMs >= this.#resolutionMs * FRESH_UNTIL) return undefined;
    return { last: point, before: { ...point, atMs: startedAtMs, cpuNanoSeconds: 0 } };
  }
}

function pairOf(point: Point, known: Pair | undefined): Pair {
  if (known === undefined || (point.startedAtMs ?? 0) >= known.last.atMs) return { last: point, before: undefined };
  if (point.atMs > known.last.atMs) return { last: point, before: known.last };
  return { last: point, before: known.before };
}
