/**
 * The configuration of the adapter: that of prometheus-adapter, and values from a script.
 *
 *     rules:          series of Prometheus as custom metrics of objects
 *     externalRules:  series as external metrics
 *     scripted:       values without a Prometheus, see scripted.ts
 *
 * 1. Nothing is ignored: unknown fields, and those that have no effect here, are refused by name.
 */
import { parse, YAMLError } from "yaml";
import { fieldsOf, listOf, textOf, within } from "./fields.ts";
import {
  compiledPattern,
  type LooseResource,
  type MetricNamer,
  metricNamer,
  type ResourceLabels,
  resourceLabels,
} from "./naming.ts";
import { type Scripted, scriptedFrom } from "./scripted.ts";
import { compileTemplate, type Template } from "./template.ts";

export class AdapterConfigError extends Error {}

export interface SeriesRule {
  /** A selector of series. */
  readonly seriesQuery: string;
  /** The metric's name; undefined if the series is filtered out. */
  readonly nameOf: MetricNamer;
  readonly labels: ResourceLabels;
  /** Of external metrics: whether the namespace of the question is a label of the series. */
  readonly namespaced: boolean;
  readonly query: Template;
}

export interface AdapterConfig {
  readonly rules: readonly SeriesRule[];
  readonly externalRules: readonly SeriesRule[];
  readonly scripted: Scripted;
}

const QUERY_FIELDS = ["Series", "LabelMatchers", "GroupBy", "LabelValuesByName"];
const DEFAULT_QUERY = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)";

/** Throws AdapterConfigError, which names the place. */
export function parseAdapterConfig(text: string): AdapterConfig {
  try {
    const all = fieldsOf(parse(text) ?? {}, "the file", ["rules", "externalRules", "resourceRules", "scripted"]);
    if (all.resourceRules !== undefined)
      throw new Error("resourceRules: resource metrics come from kubelets here, see `k8ts metrics-server`");
    const rulesIn = (field: string, isExternal: boolean) =>
      listOf(all[field], field).map((rule, at) => within(`${field}[${at}]`, () => ruleOf(rule, isExternal)));
    return {
      rules: rulesIn("rules", false),
      externalRules: rulesIn("externalRules", true),
      scripted: within("scripted", () => scriptedFrom(all.scripted)),
    };
  } catch (error) {
    if (error instanceof AdapterConfigError) throw error;
    const message = error instanceof YAMLError ? `it is not YAML: ${error.message}` : (error as Error).message;
    throw new AdapterConfigError(message, { cause: error });
  }
}

function ruleOf(value: unknown, isExternal: boolean): SeriesRule {
  const rule = fieldsOf(value, "a rule", ["seriesQuery", "seriesFilters", "resources", "name", "metricsQuery"]);
  const seriesQuery = textOf(rule.seriesQuery, "seriesQuery");
  if (seriesQuery === undefined) throw new Error("seriesQuery is required");
  const filters = listOf(rule.seriesFilters, "seriesFilters").map((each, at) =>
    within(`seriesFilters[${at}]`, () => filterOf(each)),
  );
  const { matches, as } = fieldsOf(rule.name ?? {}, "name", ["matches", "as"]);
  const named = metricNamer({ matches: textOf(matches, "name.matches"), as: textOf(as, "name.as") });
  const { template, overrides, namespaced } = fieldsOf(rule.resources ?? {}, "resources", [
    "template",
    "overrides",
    ...(isExternal ? ["namespaced"] : []),
  ]);
  if (namespaced !== undefined && typeof namespaced !== "boolean")
    throw new Error("resources.namespaced must be true or false");
  const query = textOf(rule.metricsQuery, "metricsQuery") ?? DEFAULT_QUERY;
  return {
    seriesQuery,
    nameOf: (series) => (filters.every((passes) => passes(series)) ? named(series) : undefined),
    labels: resourceLabels({ template: textOf(template, "resources.template"), overrides: overridesOf(overrides) }),
    namespaced: namespaced ?? true,
    query: within("metricsQuery", () => compileTemplate(query, QUERY_FIELDS)),
  };
}

function filterOf(value: unknown): (series: string) => boolean {
  const { is, isNot } = fieldsOf(value, "a filter", ["is", "isNot"]);
  const wanted = textOf(is, "is");
  const unwanted = textOf(isNot, "isNot");
  if ((wanted === undefined) === (unwanted === undefined)) throw new Error("exactly one of is and isNot is required");
  const pattern = compiledPattern(wanted ?? unwanted ?? "");
  return (series) => pattern.matcher(series).find() === (wanted !== undefined);
}

function overridesOf(value: unknown): Readonly<Record<string, LooseResource>> {
  const found = fieldsOf(value ?? {}, "resources.overrides");
  return Object.fromEntries(
    Object.entries(found).map(([label, named]) => {
      const { group, resource } = fieldsOf(named, `resources.overrides.${label}`, ["group", "resource"]);
      const name = textOf(resource, `resources.overrides.${label}.resource`);
      if (name === undefined) throw new Error(`resources.overrides.${label}.resource is required`);
      return [label, { group: textOf(group, `resources.overrides.${label}.group`) ?? "", resource: name }];
    }),
  );
}
