/**
 * Metrics in the Prometheus text format, version 0.0.4.
 *
 * 1. A family declares its labels up front; `labels(…)` takes one value for each and returns the same child each time.
 * 2. Counting on a child that is kept at hand is one addition; looking a child up allocates nothing.
 * 3. A family without labels shows its one child from the start, at zero.
 * 4. What is read rather than counted is set by a `collect` callback, just before the text is made.
 * 5. A family that is disabled or hidden counts as others do, and is not in the text.
 */

import { Counter, Gauge, Histogram, type Sample } from "./metric-samples.ts";
import { LabelLimits, type MetricsSettings } from "./metric-settings.ts";

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

export interface MetricOptions<L extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  readonly labels?: L;
  /** How much users may rely on it. Shown before the help; without it, nothing is shown, and it counts as ALPHA. */
  readonly stability?: Stability | undefined;
  /** The version in which it was deprecated, if it is hidden since. */
  readonly hiddenSince?: string | undefined;
}

export type Stability = "INTERNAL" | "ALPHA" | "BETA" | "STABLE";

export interface HistogramOptions<L extends readonly string[]> extends MetricOptions<L> {
  /** Upper bounds, rising; +Inf is added. */
  readonly buckets: readonly number[];
}

type LabelValues<L extends readonly string[]> = { readonly [I in keyof L]: string };

/** All samples of one name, one for each combination of label values. */
export class MetricFamily<S extends Sample, L extends readonly string[] = readonly string[]> {
  readonly #names: readonly string[];
  readonly #create: (labels: string) => S;
  /** A map for each label, the last one to samples: nothing has to be joined to look one up. */
  #children = new Map<string, Branch<S>>();
  #single: S | undefined;
  readonly #limits: LabelLimits | undefined;

  constructor(names: readonly string[], create: (labels: string) => S, limits?: LabelLimits) {
    this.#names = names;
    this.#create = create;
    this.#limits = limits;
    if (names.length === 0) this.#single = create("");
  }

  labels(...values: LabelValues<L>): S {
    if (values.length !== this.#names.length) {
      throw new RangeError(`expected a value for each of [${this.#names.join(", ")}], got ${values.length}`);
    }
    if (this.#single !== undefined) return this.#single;
    return this.#child(this.#limits === undefined ? values : this.#limits.within(values, true));
  }

  #child(values: readonly string[]): S {
    let level = this.#children;
    let branch: Branch<S> | undefined;
    for (const value of values) {
      if (branch instanceof Map) level = branch;
      branch = level.get(value);
      if (branch === undefined) return this.#grow(values);
    }
    return branch as S;
  }

  /** Removes a sample; it starts at zero if it is used again. */
  remove(...given: LabelValues<L>): void {
    const values = this.#limits?.within(given, false) ?? given;
    let level = this.#children;
    for (const value of values.slice(0, -1)) {
      const next = level.get(value);
      if (!(next instanceof Map)) return;
      level = next;
    }
    level.delete(values.at(-1) ?? "");
  }

  /** Removes all samples, as after a restart. References to removed children have no effect. */
  clear(): void {
    this.#children = new Map();
    if (this.#single !== undefined) this.#single = this.#create("");
  }

  *samples(): Iterable<S> {
    if (this.#single !== undefined) yield this.#single;
    yield* leaves(this.#children);
  }

  #grow(values: readonly string[]): S {
    const pairs = values.map((value, i) => `${this.#names[i]}="${escapeLabel(value)}"`);
    const sample = this.#create(pairs.join(","));
    let level = this.#children;
    for (const value of values.slice(0, -1)) {
      const next = level.get(value);
      const map: Map<string, Branch<S>> = next instanceof Map ? next : new Map();
      level.set(value, map);
      level = map;
    }
    level.set(values[values.length - 1] ?? "", sample);
    return sample;
  }
}

type Branch<S> = S | Map<string, Branch<S>>;

function* leaves<S>(level: Map<string, Branch<S>>): Iterable<S> {
  for (const branch of level.values()) {
    if (branch instanceof Map) yield* leaves(branch);
    else yield branch;
  }
}

interface Registered {
  readonly head: string;
  /** Undefined: not shown. */
  readonly family: { samples(): Iterable<Sample> } | undefined;
}

export class MetricsRegistry {
  readonly #families = new Map<string, Registered>();
  readonly #collectors = new Set<() => void>();
  readonly #settings: MetricsSettings;
  readonly #registered = new Map<string, { readonly labels: readonly [string, string]; count: number }>();
  #hidden = 0;
  #unexpected = 0;

  constructor(settings: MetricsSettings = {}) {
    this.#settings = settings;
  }

  counter<const L extends readonly string[] = []>(options: MetricOptions<L>): MetricFamily<Counter, L> {
    return this.#register("counter", options, (labels) => new Counter(options.name, labels));
  }

  gauge<const L extends readonly string[] = []>(options: MetricOptions<L>): MetricFamily<Gauge, L> {
    return this.#register("gauge", options, (labels) => new Gauge(options.name, labels));
  }

  histogram<const L extends readonly string[] = []>(options: HistogramOptions<L>): MetricFamily<Histogram, L> {
    const { name, buckets } = options;
    if (options.labels?.includes("le")) throw new Error(`${name}: le is the histogram's own label`);
    if (!buckets.every((bound, i) => Number.isFinite(bound) && bound > (buckets[i - 1] ?? -Infinity))) {
      throw new RangeError(`${name}: buckets must be finite and rise`);
    }
    return this.#register("histogram", options, (labels) => new Histogram(name, labels, buckets));
  }

  /** Calls `read` before each text; the function returned ends that. */
  collect(read: () => void): () => void {
    const collector = () => read();
    this.#collectors.add(collector);
    return () => void this.#collectors.delete(collector);
  }

  /** Metrics about the metrics of this registry, under the names that Kubernetes' components have for them. */
  describeItself(): void {
    const counter = (name: string, help: string, stability: Stability) =>
      this.counter({ name, help, stability }).labels();
    const registered = this.counter({
      name: "registered_metrics_total",
      help: "Metrics that are registered, by stability and the version that deprecated them.",
      labels: ["stability_level", "deprecated_version"],
      stability: "BETA",
    });
    const disabled = counter("disabled_metrics_total", "Metrics that a flag disables.", "BETA");
    const hidden = counter("hidden_metrics_total", "Deprecated metrics that are not shown.", "BETA");
    const unexpected = counter(
      "cardinality_enforcement_unexpected_categorizations_total",
      "Values of labels that were not on their list, and were counted as unexpected.",
      "ALPHA",
    );
    this.collect(() => {
      for (const { labels, count } of this.#registered.values()) registered.labels(...labels).setTotal(count);
      disabled.setTotal(new Set(this.#settings.disabled).size);
      hidden.setTotal(this.#hidden);
      unexpected.setTotal(this.#unexpected);
    });
  }

  text(): string {
    for (const read of this.#collectors) read();
    const lines: string[] = [];
    for (const { head, family } of this.#families.values()) {
      if (family === undefined) continue;
      lines.push(head);
      for (const sample of family.samples()) sample.write(lines);
    }
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  }

  #register<S extends Sample, L extends readonly string[]>(
    type: string,
    { name, help, labels, stability, hiddenSince }: MetricOptions<L>,
    create: (labels: string) => S,
  ): MetricFamily<S, L> {
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name)) throw new Error(`not a metric name: ${name}`);
    for (const label of labels ?? []) {
      if (!/^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(label)) throw new Error(`${name}: not a label name: ${label}`);
    }
    if (new Set(labels).size !== (labels?.length ?? 0)) throw new Error(`${name}: a label is declared twice`);
    if (this.#families.has(name)) throw new Error(`a metric named ${name} is registered already`);
    const limits = LabelLimits.of(labels ?? [], this.#settings.allowed?.get(name), () => this.#unexpected++);
    const family = new MetricFamily<S, L>(labels ?? [], create, limits);
    const about = `${stability === undefined ? "" : `[${stability}] `}${help}`;
    const isShown = this.#counted(name, stability ?? "ALPHA", hiddenSince);
    this.#families.set(name, {
      head: `# HELP ${name} ${escapeHelp(about)}\n# TYPE ${name} ${type}`,
      family: isShown ? family : undefined,
    });
    return family;
  }

  /** Whether the family is shown. */
  #counted(name: string, stability: Stability, hiddenSince = ""): boolean {
    const { disabled = [], showsHidden = false } = this.#settings;
    if (disabled.includes(name)) return false;
    if (hiddenSince !== "" && !showsHidden) {
      this.#hidden++;
      return false;
    }
    const key = `${stability} ${hiddenSince}`;
    const registered = this.#registered.get(key) ?? { labels: [stability, hiddenSince] as const, count: 0 };
    registered.count++;
    this.#registered.set(key, registered);
    return true;
  }
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
