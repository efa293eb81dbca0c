/**
 * From a question to a query of Prometheus: the label matchers of objects, namespace and selector, put into a rule's
 * template.
 */
import type { LabelMatcher } from "#api";
import type { SeriesRule } from "./config.ts";

export interface QueryParts {
  readonly series: string;
  /** Label and value of the namespace. */
  readonly namespace?: readonly [label: string, value: string] | undefined;
  /** Label and values of the objects. */
  readonly objects?: readonly [label: string, names: readonly string[]] | undefined;
  readonly selector: LabelMatcher;
}

export function queryOf({ query }: Pick<SeriesRule, "query">, { series, namespace, objects, selector }: QueryParts) {
  const matchers = [
    ...selector.requirements.map(requirementText),
    ...(namespace === undefined ? [] : [equal(namespace[0], namespace[1])]),
    ...(objects === undefined ? [] : [anyOf(objects[0], objects[1])]),
  ];
  const values = [
    ...selector.requirements.map(({ key, values: each }) => [key, each.join("|")] as const),
    ...(namespace === undefined ? [] : [namespace]),
    ...(objects === undefined ? [] : [[objects[0], objects[1].join("|")] as const]),
  ];
  return query({
    Series: series,
    LabelMatchers: matchers.join(","),
    GroupBy: objects?.[0] ?? "",
    LabelValuesByName: Object.fromEntries(values),
  });
}

type Requirement = LabelMatcher["requirements"][number];

/** Throws for what Prometheus cannot match: a query that is a little wrong would scale wrongly. */
function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return anyOf(key, values);
    case "notin":
    case "!=":
      return values.length === 1
        ? `${key}!=${quoted(values[0] ?? "")}`
        : `${key}!~${quoted(values.map(literal).join("|"))}`;
    case "exists":
      return `${key}!=""`;
    case "!":
      return `${key}=""`;
    default:
      throw new Error(`the operator ${operator} of a metric's selector is not supported by Prometheus`);
  }
}

function equal(label: string, value: string): string {
  return `${label}=${quoted(value)}`;
}

function anyOf(label: string, values: readonly string[]): string {
  return values.length === 1 ? equal(label, values[0] ?? "") : `${label}=~${quoted(values.map(literal).join("|"))}`;
}

/** As itself in a regular expression: names of objects have dots. */
function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
