/**
 * Metrics from Prometheus: which there are is asked from time to time, their values with each question.
 *
 *     rules ──► series ──► metrics: of objects by the labels that name them ──► discovery
 *     question ──► rule, series ──► query ──► samples by the label of the objects ──► values
 *
 * 1. Until a list of series has been read there are no metrics; if one cannot be read, the list before stays.
 * 2. The first rule with a metric of a name has it.
 */
import { type Clock, isAbort, type Logger } from "#base";
import type { AdapterConfig, SeriesRule } from "./config.ts";
import type { Labels, PrometheusClient } from "./prometheus-client.ts";
import { queryOf } from "./prometheus-query.ts";
import { type Resources, singularOf } from "./resources.ts";
import {
  type CustomMetric,
  type CustomQuestion,
  type ExternalQuestion,
  type ExternalSample,
  type MetricSource,
  milliOf,
  titleOf,
} from "./source.ts";

const NAME = "__name__";
const NAMESPACE = { group: "", singular: "namespace", plural: "namespaces" };

interface Known extends CustomMetric {
  readonly rule: SeriesRule;
  readonly series: string;
  /** With the names of the objects. */
  readonly label: string;
}

export interface PrometheusSourceOptions {
  readonly prometheus: PrometheusClient;
  readonly config: () => Pick<AdapterConfig, "rules" | "externalRules">;
  readonly resources: Resources;
  readonly clock: Clock;
  readonly log: Logger;
  /** How old a series may be. */
  readonly maxAgeMs: number;
}

export class PrometheusSource implements MetricSource {
  readonly #options: PrometheusSourceOptions;
  #custom: ReadonlyMap<string, Known> = new Map();
  #external: ReadonlyMap<string, { readonly rule: SeriesRule; readonly series: string }> = new Map();
  #hasList = false;

  constructor(options: PrometheusSourceOptions) {
    this.#options = options;
  }

  /** Whether a list of series has been read. */
  get isReady(): boolean {
    return this.#hasList;
  }

  customMetrics(): readonly CustomMetric[] {
    return [...this.#custom.values()];
  }

  externalMetrics(): readonly string[] {
    return [...this.#external.keys()];
  }

  /** Until the signal aborts. */
  async run(everyMs: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.refresh(signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.error("unable to update list of all metrics", { error });
      }
      await clock.sleep(everyMs, signal).catch(() => {});
    }
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { config, resources, prometheus, clock, maxAgeMs } = this.#options;
    const { rules, externalRules } = config();
    await resources.refresh(signal);
    const sinceMs = clock.now() - maxAgeMs;
    const asked = new Map<string, Promise<readonly Labels[]>>();
    const seriesOf = async ({ seriesQuery }: SeriesRule) => {
      const running = asked.get(seriesQuery) ?? prometheus.series(seriesQuery, sinceMs, signal);
      asked.set(seriesQuery, running);
      return running;
    };
    const [own, external] = await Promise.all([
      Promise.all(rules.map(async (rule) => ({ rule, found: await seriesOf(rule) }))),
      Promise.all(externalRules.map(async (rule) => ({ rule, found: await seriesOf(rule) }))),
    ]);
    const custom = new Map<string, Known>();
    for (const { rule, found } of own)
      for (const labels of found)
        for (const known of this.#metricsOf(rule, labels)) {
          const key = keyOf(known);
          if (!custom.has(key)) custom.set(key, known);
        }
    const others = new Map<string, { rule: SeriesRule; series: string }>();
    for (const { rule, found } of external)
      for (const { [NAME]: series = "" } of found) {
        const metric = rule.nameOf(series);
        if (metric !== undefined && !others.has(metric)) others.set(metric, { rule, series });
      }
    this.#custom = custom;
    this.#external = others;
    this.#hasList = true;
  }

  *#metricsOf(rule: SeriesRule, labels: Labels): Iterable<Known> {
    const series = labels[NAME] ?? "";
    const metric = rule.nameOf(series);
    if (metric === undefined) return;
    const { resources } = this.#options;
    const objects = Object.keys(labels).flatMap((label) => {
      const named = label === NAME ? undefined : rule.labels.resourceOf(label);
      const resource = named && resources.known(named);
      return resource === undefined ? [] : [{ label, resource }];
    });
    const hasNamespace = objects.some(({ resource }) => resource.plural === "namespaces" && resource.group === "");
    for (const { label, resource } of objects) {
      const { group, plural, namespaced } = resource;
      if (namespaced && !hasNamespace) continue;
      yield { group, resource: plural, metric, namespaced, rule, series, label };
    }
  }

  async custom(question: CustomQuestion, signal: AbortSignal): Promise<ReadonlyMap<string, bigint> | undefined> {
    const known = this.#custom.get(keyOf(question));
    const resource = this.#options.resources.known(question);
    if (known === undefined || resource === undefined) return undefined;
    const { names, namespace, selector } = question;
    if (names.length === 0) return new Map();
    const { rule, series } = known;
    const label = rule.labels.labelOf({
      group: resource.group,
      plural: resource.plural,
      singular: singularOf(resource),
    });
    const query = queryOf(rule, {
      series,
      selector,
      namespace: namespaceOf(rule, namespace),
      objects: [label ?? known.label, names],
    });
    const samples = await this.#options.prometheus.query(query, signal);
    return new Map(samples.map(({ labels, value }) => [labels[label ?? known.label] ?? "", milliOf(value)]));
  }

  async external(
    { metric, namespace, selector }: ExternalQuestion,
    signal: AbortSignal,
  ): Promise<readonly ExternalSample[] | undefined> {
    const known = this.#external.get(metric);
    if (known === undefined) return undefined;
    const { rule, series } = known;
    const query = queryOf(rule, {
      series,
      selector,
      namespace: rule.namespaced ? namespaceOf(rule, namespace) : undefined,
    });
    const samples = await this.#options.prometheus.query(query, signal);
    return samples.map(({ labels, atMs, value }) => ({ labels, atMs, milli: milliOf(value) }));
  }
}

function keyOf(metric: { readonly group: string; readonly resource: string; readonly metric: string }): string {
  return `${titleOf(metric)}/${metric.metric}`;
}

/** Throws: without the label, figures of other namespaces would be taken. */
function namespaceOf({ labels }: SeriesRule, namespace: string): readonly [string, string] | undefined {
  if (namespace === "") return undefined;
  const label = labels.labelOf(NAMESPACE);
  if (label === undefined) throw new Error("the rule names no label for namespaces (resources.overrides)");
  return [label, namespace];
}
