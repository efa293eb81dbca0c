/**
 * The flags about metrics that Kubernetes' components share.
 *
 * 1. Wrong values are refused in the words of Kubernetes.
 * 2. --allow-metric-labels overrides the manifest.
 */
import { readFileSync } from "node:fs";
import { Option } from "commander";
import { goQuote, isObject, type Json, parseYaml } from "#api";
import { KUBERNETES_VERSION } from "#apiserver";
import type { MetricsSettings } from "#base";
import { ClusterError } from "#cluster";

export interface MetricsFlagOptions {
  readonly showHiddenMetricsForVersion?: string;
  readonly disabledMetrics?: readonly string[];
  readonly allowMetricLabels?: readonly (readonly [key: string, values: string])[];
  readonly allowMetricLabelsManifest?: string;
}

const METRIC_NAME = "^[a-zA-Z_:][a-zA-Z0-9_:]*$";
const MAPPING_KEY = /^[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*$/;

export function metricsOptions(): readonly Option[] {
  return [
    new Option(
      "--show-hidden-metrics-for-version <major.minor>",
      "show the metrics that are hidden since this version; only the previous minor version is allowed",
    ),
    new Option("--disabled-metrics <names>", "metrics that are not served, by their full names").argParser(
      (value: string, before: readonly string[] = []) => [...before, ...value.split(",").filter((name) => name !== "")],
    ),
    new Option(
      "--allow-metric-labels <metric,label=values>",
      "values that a label of a metric may have; others are counted as unexpected. May be repeated",
    ).argParser((value: string, before: MetricsFlagOptions["allowMetricLabels"] = []) => [...before, ...pairs(value)]),
    new Option("--allow-metric-labels-manifest <file>", "YAML file with the same, overridden by the flag"),
  ];
}

/** Throws ClusterError for wrong values. */
export function metricsFrom(options: MetricsFlagOptions): MetricsSettings {
  const { showHiddenMetricsForVersion: shown = "", disabledMetrics: disabled = [], allowMetricLabels } = options;
  const previous = `${KUBERNETES_VERSION.major}.${Number(KUBERNETES_VERSION.minor) - 1}`;
  if (shown !== "" && shown !== previous) {
    const flag = "--show-hidden-metrics-for-version";
    throw new ClusterError(
      `${flag} must be omitted or have the value '${previous}'. Only the previous minor version is allowed`,
    );
  }
  const wrong = disabled.find((name) => !new RegExp(METRIC_NAME).test(name));
  if (wrong !== undefined) {
    const got = `matching ${goQuote(METRIC_NAME)}, got ${goQuote(wrong)}`;
    throw new ClusterError(`--disabled-metrics must be fully qualified metric names ${got}`);
  }
  if (allowMetricLabels !== undefined) checkKeys(allowMetricLabels, "");
  const { allowMetricLabelsManifest: file = "" } = options;
  const ofFile = file === "" ? undefined : manifest(file);
  return { disabled, showsHidden: shown !== "", allowed: byMetric(allowMetricLabels ?? ofFile ?? []) };
}

type Pairs = NonNullable<MetricsFlagOptions["allowMetricLabels"]>;

/** As Go's flags read maps: with one equal sign the whole is one pair, with more it is a line of CSV. */
function pairs(value: string): Pairs {
  const signs = value.split("=").length - 1;
  const parts = signs > 1 ? csvFields(value) : [value.replace(/^"|"$/g, "")];
  return parts.map((part) => {
    const at = part.indexOf("=");
    if (at >= 0) return [part.slice(0, at), part.slice(at + 1)];
    const why = `${part} must be formatted as key=value`;
    throw new ClusterError(`invalid argument ${goQuote(value)} for "--allow-metric-labels" flag: ${why}`);
  });
}

/** A field in quotes may have commas; two quotes in it stand for one. */
function csvFields(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

function manifest(file: string): Pairs {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "no such file or directory" : String(error);
    throw new ClusterError(`failed to read allow list manifest: open ${file}: ${why}`, { cause: error });
  }
  let value: Json;
  try {
    ({ value } = parseYaml(text));
  } catch (error) {
    throw new ClusterError(`failed to parse allow list manifest: ${(error as Error).message}`, { cause: error });
  }
  const entries = value === null ? [] : isObject(value) ? Object.entries(value) : undefined;
  if (entries === undefined || !entries.every((entry): entry is [string, string] => typeof entry[1] === "string")) {
    throw new ClusterError("failed to parse allow list manifest: it is not a map of strings");
  }
  checkKeys(entries, "invalid allow list mapping in manifest: ");
  return entries;
}

function checkKeys(given: Pairs, about: string): void {
  if (given.every(([key]) => MAPPING_KEY.test(key))) return;
  const format = "`metricName,labelName=labelValue, labelValue,...`";
  throw new ClusterError(`${about}--allow-metric-labels must have a list of kv pair with format ${format}`);
}

function byMetric(given: Pairs): NonNullable<MetricsSettings["allowed"]> {
  const allowed = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [key, values] of given) {
    const [metric = "", label = ""] = key.split(",");
    const labels = allowed.get(metric) ?? new Map<string, ReadonlySet<string>>();
    allowed.set(metric, labels.set(label, new Set(values.split(","))));
  }
  return allowed;
}
