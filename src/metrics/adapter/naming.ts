/** Names of Prometheus and of the API: series and metrics, labels and resources. */
import { RE2JS, RE2JSException } from "re2js";
import { compileTemplate } from "./template.ts";

export function compiledPattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new Error(`${JSON.stringify(pattern)} is not a regular expression: ${error.message}`, { cause: error });
  }
}

export interface NameRule {
  readonly matches?: string | undefined;
  readonly as?: string | undefined;
}

/** The metric's name of a series; undefined if the rule is not about it. */
export type MetricNamer = (series: string) => string | undefined;

export function metricNamer({ matches = "", as = "" }: NameRule): MetricNamer {
  const pattern = compiledPattern(matches === "" ? ".*" : matches);
  const groups = pattern.groupCount();
  if (as === "" && groups > 1) throw new Error(`name.as is required: ${JSON.stringify(matches)} has ${groups} groups`);
  const form = as === "" ? (groups === 1 ? "$1" : "$0") : as;
  return (series) => {
    const found = pattern.matcher(series);
    if (!found.find()) return undefined;
    // As Go's ReplaceAllString: what is around the match stays.
    const value = form.replaceAll(/\$(?:\{(\w+)\}|(\w+)|\$)/g, (_all, braced?: string, plain?: string) => {
      const name = braced ?? plain;
      if (name === undefined) return "$";
      return /^\d+$/.test(name) && Number(name) <= groups ? (found.group(Number(name)) ?? "") : "";
    });
    return series.slice(0, found.start()) + value + series.slice(found.end());
  };
}

/** A group and a resource, singular or plural: as configurations name them. */
export interface LooseResource {
  readonly group: string;
  readonly resource: string;
}

export interface ResourceRule {
  readonly template?: string | undefined;
  /** By label. */
  readonly overrides?: Readonly<Record<string, LooseResource>> | undefined;
}

export interface ResourceLabels {
  /** The label with the names of such objects. */
  labelOf(resource: { readonly group: string; readonly singular: string; readonly plural: string }): string | undefined;
  /** What the values of a label name. Without `group` any group may be meant. */
  resourceOf(label: string): { readonly group?: string | undefined; readonly resource: string } | undefined;
}

const FIELDS = ["Resource", "Group"];

export function resourceLabels({ template, overrides = {} }: ResourceRule): ResourceLabels {
  const write = template === undefined ? undefined : compileTemplate(template, FIELDS);
  const read = write === undefined ? undefined : reversed(write, template ?? "");
  return {
    labelOf({ group, singular, plural }) {
      for (const [label, named] of Object.entries(overrides))
        if (["", group].includes(named.group) && (named.resource === singular || named.resource === plural))
          return label;
      return write?.({ Group: group.replaceAll(".", "_"), Resource: singular });
    },
    resourceOf(label) {
      if (Object.hasOwn(overrides, label)) return overrides[label];
      return read?.(label);
    },
  };
}

/** The same template as a pattern of labels. */
function reversed(write: (values: Record<string, string>) => string, template: string) {
  const text = write({ Resource: "\u0001", Group: "\u0002" });
  if (!text.includes("\u0001")) throw new Error(`resources.template: ${JSON.stringify(template)} needs <<.Resource>>`);
  const source = text
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace("\u0001", "(?P<resource>[a-z0-9]+?)")
    .replace("\u0002", "(?P<group>[a-z0-9_]+?)");
  const pattern = compiledPattern(`^${source}$`);
  const hasGroup = text.includes("\u0002");
  return (label: string) => {
    const found = pattern.matcher(label);
    if (!found.find()) return undefined;
    const group = hasGroup ? found.group("group")?.replaceAll("_", ".") : undefined;
    return { group, resource: found.group("resource") ?? "" };
  };
}
