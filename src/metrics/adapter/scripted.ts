/**
 * Metrics from a script: values over time, without a Prometheus.
 *
 *     scripted:
 *       custom:
 *         - metric: hits
 *           resource: services            # plural, with a group where there is one: deployments.apps
 *           namespace: default            # any, if absent
 *           name: front                   # any object, if absent
 *           value: 0s=100,2m=250          # since the adapter began; or one quantity
 *       external:
 *         - metric: queue
 *           labels: {lane: fast}
 *           value: 30
 *
 * 1. The first entry that names an object gives its value; of external metrics every entry is a series.
 */
import { durationMs, parseQuantity, scaledValue } from "#api";
import { fieldsOf, listOf, textOf, within } from "./fields.ts";
import {
  type CustomMetric,
  type CustomQuestion,
  type ExternalQuestion,
  type ExternalSample,
  groupResource,
  type MetricSource,
  titleOf,
} from "./source.ts";

interface Step {
  readonly fromMs: number;
  readonly milli: bigint;
}

interface Entry {
  readonly metric: string;
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface CustomEntry extends Entry {
  /** As in paths. */
  readonly resource: string;
  readonly name: string | undefined;
}

export interface Scripted {
  readonly custom: readonly CustomEntry[];
  readonly external: readonly Entry[];
}

const CLUSTER_WIDE = ["nodes", "namespaces", "persistentvolumes"];

export function scriptedFrom(value: unknown): Scripted {
  const { custom, external } = fieldsOf(value ?? {}, "it", ["custom", "external"]);
  return {
    custom: listOf(custom, "custom").map((each, at) =>
      within(`custom[${at}]`, () => {
        const fields = fieldsOf(each, "an entry", ["metric", "resource", "namespace", "name", "labels", "value"]);
        const resource = textOf(fields.resource, "resource");
        if (resource === undefined) throw new Error("resource is required");
        return { ...entryOf(fields), resource, name: textOf(fields.name, "name") };
      }),
    ),
    external: listOf(external, "external").map((each, at) =>
      within(`external[${at}]`, () => entryOf(fieldsOf(each, "an entry", ["metric", "namespace", "labels", "value"]))),
    ),
  };
}

function entryOf(fields: Readonly<Record<string, unknown>>): Entry {
  const [metric, value] = [textOf(fields.metric, "metric"), textOf(fields.value, "value")];
  if (metric === undefined || value === undefined) throw new Error("metric and value are required");
  const labels = Object.entries(fieldsOf(fields.labels ?? {}, "labels"));
  return {
    metric,
    namespace: textOf(fields.namespace, "namespace"),
    labels: Object.fromEntries(labels.map(([name, text]) => [name, textOf(text, `labels.${name}`) ?? ""])),
    steps: stepsOf(value),
  };
}

function stepsOf(text: string): readonly Step[] {
  try {
    const steps = text.split(",").map((step) => {
      const [amount = "", from = "0s"] = step.split("=").reverse();
      return { fromMs: durationMs(from.trim()), milli: scaledValue(parseQuantity(amount.trim()), -3) };
    });
    if (steps.every(({ fromMs }, at) => fromMs >= (steps[at - 1]?.fromMs ?? 0))) return steps;
  } catch {
    // reported below
  }
  throw new Error(`value: ${JSON.stringify(text)} is not a quantity, or quantities by time such as 0s=100,2m=250`);
}

export class ScriptedSource implements MetricSource {
  readonly #scripted: () => Scripted;
  readonly #now: () => number;
  readonly #beganMs: number;

  /** `scripted` is asked for each time: the script may change. */
  constructor(scripted: () => Scripted, now: () => number) {
    this.#scripted = scripted;
    this.#now = now;
    this.#beganMs = now();
  }

  customMetrics(): readonly CustomMetric[] {
    return this.#scripted().custom.map(({ metric, resource }) => ({
      ...groupResource(resource),
      metric,
      namespaced: !CLUSTER_WIDE.includes(resource),
    }));
  }

  externalMetrics(): readonly string[] {
    return this.#scripted().external.map(({ metric }) => metric);
  }

  async custom({ metric, namespace, names, selector, ...of }: CustomQuestion) {
    const entries = this.#scripted().custom.filter(
      (each) => each.metric === metric && each.resource === titleOf(of) && selector.matches(each.labels),
    );
    if (entries.length === 0) return undefined;
    const values = names.flatMap((name) => {
      const found = entries.find(
        (each) =>
          (each.name === undefined || each.name === name) &&
          (each.namespace === undefined || namespace === "" || each.namespace === namespace),
      );
      return found === undefined ? [] : [[name, this.#valueOf(found)] as const];
    });
    return new Map(values);
  }

  async external({ metric, namespace, selector }: ExternalQuestion): Promise<readonly ExternalSample[] | undefined> {
    const entries = this.#scripted().external.filter((each) => each.metric === metric);
    if (entries.length === 0) return undefined;
    return entries
      .filter((each) => each.namespace === undefined || each.namespace === namespace)
      .filter(({ labels }) => selector.matches(labels))
      .map((each) => ({ milli: this.#valueOf(each), atMs: this.#now(), labels: each.labels }));
  }

  /** Before the first step the value is zero. */
  #valueOf({ steps }: Entry): bigint {
    const sinceMs = this.#now() - this.#beganMs;
    return steps.findLast(({ fromMs }) => fromMs <= sinceMs)?.milli ?? 0n;
  }
}
