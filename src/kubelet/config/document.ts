/**
 * A KubeletConfiguration as a document: read from a file, with drop-ins merged over it, checked field by field.
 *
 * 1. Drop-ins are files *.conf of a folder and the folders in it, in the order of their paths; each is merged as a
 *    JSON merge patch (RFC 7386): maps are merged, lists are replaced.
 * 2. A field that nobody knows is named, as upstream does, and changes nothing.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { equalJson, formatDuration, type Json, parseDuration, parseQuantity } from "#api";
import { FIELDS, type FieldType, type Value } from "./fields.ts";

/** The fields that are set, without apiVersion and kind. */
export type Document = Readonly<Record<string, Value>>;

const KIND = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };

/** Throws Error with one sentence. */
export function parseDocument(source: string): Document {
  const document: unknown = parse(source);
  if (!isObject(document)) throw new Error("it is not a KubeletConfiguration.");
  const { apiVersion, kind, ...fields } = document;
  if (apiVersion !== KIND.apiVersion || kind !== KIND.kind)
    throw new Error(`it must be of the kind ${KIND.kind}, ${KIND.apiVersion}.`);
  return fields as Document;
}

/** Throws Error that names the file. */
export async function readDropIns(folder: string): Promise<readonly Document[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((each) => each.isFile() && each.name.endsWith(".conf"));
  const documents: Document[] = [];
  for (const path of paths.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    try {
      documents.push(parseDocument(await readFile(path, "utf8")));
    } catch (error) {
      throw new Error(`failed to load kubelet config file, path: ${path}, error: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return documents;
}

export function mergeDocuments(documents: readonly Document[]): Document {
  return documents.reduce<Document>((all, next) => merged(all, next) as Document, {});
}

function merged(base: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const all: Record<string, unknown> = isObject(base) ? { ...base } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete all[name];
    else all[name] = merged(all[name], value);
  }
  return all;
}

export interface CheckedDocument {
  /** Known fields, in the form in which they are shown: durations as `1m0s`. */
  readonly fields: Document;
  /** Fields without effect that are set to something else than the default, with the reason. */
  readonly idle: readonly string[];
  /** Names that nobody knows. */
  readonly unknown: readonly string[];
}

/** Throws Error with one sentence that names the field. */
export function checkDocument(document: Document): CheckedDocument {
  const fields: Record<string, Value> = {};
  const [idle, unknown]: [string[], string[]] = [[], []];
  for (const [name, value] of Object.entries(document)) {
    const field = FIELDS[name];
    if (field === undefined) unknown.push(name);
    else if (value !== null && value !== undefined) {
      const read = readValue(name, field.type, value);
      fields[name] = read;
      const isInitial = isUnset(read) || (field.initial !== undefined && isSame(field.initial, read));
      if (field.outcome === "fixed" && !isInitial)
        throw new Error(`${name} must be left at its default in this kubelet: ${field.reason}.`);
      if (field.outcome === "idle" && !isInitial) idle.push(`${name} (${field.reason})`);
    }
  }
  return { fields, idle, unknown };
}

/** With all defaults. What follows from other fields follows here, too. */
export function withDefaults(set: Document): Document {
  const initial = Object.entries(FIELDS).flatMap(([name, field]) =>
    field.initial === undefined ? [] : [[name, field.initial] as const],
  );
  const status = set.nodeStatusReportFrequency ?? set.nodeStatusUpdateFrequency;
  const hard = set.mergeDefaultEvictionSettings === true ? { ...(FIELDS.evictionHard?.initial as object) } : {};
  // 0 stands for the default where upstream says so.
  const given = Object.entries(set).filter(([name, value]) => !isZero(name, value));
  return {
    ...Object.fromEntries(initial),
    ...(status !== undefined && { nodeStatusReportFrequency: status }),
    ...Object.fromEntries(given),
    ...(isObject(set.evictionHard) && { evictionHard: { ...hard, ...set.evictionHard } }),
  };
}

/** Number and duration fields whose zero is absent in Go, and so becomes the default. */
const ZERO_IS_DEFAULT = new Set(
  `syncFrequency fileCheckFrequency httpCheckFrequency port registryBurst eventBurst nodeStatusReportFrequency
  nodeStatusUpdateFrequency nodeLeaseDurationSeconds imageMinimumGCAge volumeStatsAggPeriod cpuManagerReconcilePeriod
  runtimeRequestTimeout maxPods maxOpenFiles kubeAPIBurst evictionPressureTransitionPeriod
  streamingConnectionIdleTimeout`.split(/\s+/),
);
const EMPTY_IS_DEFAULT = new Set(
  `address authorizationMode cgroupDriver cpuManagerPolicy memoryManagerPolicy topologyManagerPolicy topologyManagerScope
  hairpinMode contentType containerLogMaxSize configMapAndSecretChangeDetectionStrategy volumePluginDir
  containerRuntimeEndpoint podLogsDir memoryReservationPolicy`.split(/\s+/),
);

function isZero(name: string, value: Value): boolean {
  return (ZERO_IS_DEFAULT.has(name) && (value === 0 || value === "0s")) || (EMPTY_IS_DEFAULT.has(name) && value === "");
}

function readValue(name: string, type: FieldType, value: unknown): Value {
  const must = (what: string): never => {
    throw new Error(`${name} must be ${what}.`);
  };
  switch (type) {
    case "string":
      return typeof value === "string" ? value : must("a string");
    case "number":
      return typeof value === "number" ? value : must("a number");
    case "boolean":
      return typeof value === "boolean" ? value : must("true or false");
    case "duration":
      return formatDuration(durationIn(name, String(value)));
    case "quantity":
      try {
        parseQuantity(String(value));
      } catch {
        must("a quantity");
      }
      return String(value);
    case "strings":
      return isList(value) && value.every((each) => typeof each === "string") ? value : must("a list of strings");
    case "numbers":
      return isList(value) && value.every((each) => typeof each === "number") ? value : must("a list of numbers");
    case "map":
      if (!isObject(value)) return must("a map of strings");
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)]));
    case "gates":
      return isObject(value) && Object.values(value).every((each) => typeof each === "boolean")
        ? value
        : must("a map of true or false");
    case "object":
      return isObject(value) ? value : must("an object");
    case "objects":
      return isList(value) && value.every(isObject) ? value : must("a list of objects");
  }
}

export function durationIn(name: string, text: string): bigint {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new Error(`${name}: ${text} is not a duration such as 30s.`, { cause: error });
  }
}

/** What is set to the default, wholly or in part, changes nothing. */
function isSame(initial: Value, value: Value): boolean {
  if (isObject(initial) && isObject(value))
    return Object.entries(value).every(
      ([name, each]) => isUnset(each) || isSame((initial[name] ?? {}) as Value, each as Value),
    );
  if (typeof initial === "string" && typeof value === "string" && isDuration(initial) && isDuration(value))
    return parseDuration(initial) === parseDuration(value);
  return equalJson(initial as Json, value as Json);
}

function isDuration(text: string): boolean {
  return /^(\d+(\.\d+)?(h|m|s|ms|us|ns))+$/.test(text);
}

function isUnset(value: unknown): boolean {
  return value === "" || (isObject(value) && Object.keys(value).length === 0) || (isList(value) && value.length === 0);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
