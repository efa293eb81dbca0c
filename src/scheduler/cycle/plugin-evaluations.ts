/**
 * How many attempts each plugin took part in, by extension point.
 *
 * 1. A plugin whose result is remembered took part as well.
 * 2. The counters of a profile are looked up once.
 */
import type { Counter, MetricFamily } from "#base";
import type { Filtered, Scored } from "../evaluation/index.ts";
import type { FilterUse, Stages } from "../framework/index.ts";

type Family = MetricFamily<Counter, readonly ["plugin", "extension_point", "profile"]>;

interface FilterCounters {
  readonly prepared: Counter;
  readonly checked: Counter | undefined;
}

interface ScoreCounters {
  readonly prepared: Counter;
  readonly scored: Counter;
}

export class PluginEvaluations {
  readonly #nodeFilters: readonly FilterCounters[];
  readonly #clusterFilters: readonly FilterCounters[];
  readonly #scores: ReadonlyMap<string, ScoreCounters>;

  constructor(family: Family, { schedulerName, nodeFilters, clusterFilters, nodeScores, clusterScores }: Stages) {
    const counter = (plugin: string, point: string) => family.labels(plugin, point, schedulerName);
    const ofFilter = ({ plugin: { name }, checks }: FilterUse<unknown>): FilterCounters => ({
      prepared: counter(name, "PreFilter"),
      checked: checks ? counter(name, "Filter") : undefined,
    });
    this.#nodeFilters = nodeFilters.map(ofFilter);
    this.#clusterFilters = clusterFilters.map(ofFilter);
    this.#scores = new Map(
      [...nodeScores, ...clusterScores].map(({ plugin: { name } }) => [
        name,
        { prepared: counter(name, "PreScore"), scored: counter(name, "Score") },
      ]),
    );
  }

  filtered({ memo, prepared }: Pick<Filtered, "memo" | "prepared">): void {
    count(this.#nodeFilters, memo.filters);
    count(this.#clusterFilters, prepared);
  }

  scored({ columns }: Pick<Scored, "columns">): void {
    for (const { prepared } of this.#scores.values()) prepared.inc();
    for (const { plugin } of columns) this.#scores.get(plugin)?.scored.inc();
  }
}

/** A plugin that does not concern the pod checks no node. */
function count(counters: readonly FilterCounters[], states: readonly { readonly kind: string }[]): void {
  for (let at = 0; at < counters.length; at++) {
    counters[at]?.prepared.inc();
    if (states[at]?.kind === "ready") counters[at]?.checked?.inc();
  }
}
