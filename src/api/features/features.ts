/**
 * Which features are on: the defaults of the emulated version, and what `--feature-gates` changes of them.
 *
 * 1. A value is complete and never changes. Nothing here is state of the process: servers of one process may differ.
 * 2. Errors have upstream's words. What is only worth a warning stands in `warnings`, for the component to log.
 */
import { table } from "#base";
import { type Gate, type GateSpec, gates, type Stage, specAt } from "./gates.ts";
import {
  BINARY,
  type EffectiveVersions,
  effectiveVersions,
  isOlder,
  text,
  type Version,
  versionFaults,
} from "./version.ts";

export interface FeatureState {
  readonly name: string;
  readonly stage: Stage;
  readonly enabled: boolean;
}

export interface Features {
  /** Throws for a gate that does not exist: it is a mistake in the code. */
  enabled(gate: string): boolean;
  readonly emulated: Version;
  readonly minCompatibility: Version;
  /** The gates that exist at the emulated version, by name. */
  all(): Iterable<FeatureState>;
  /** Gates that are not at the default of the emulated version, in the order of the table. */
  readonly changed: readonly string[];
  readonly warnings: readonly string[];
}

export interface FeatureFlags {
  /** `A=true,B=false`, also as `kube:A=true`; or the values by name, as configuration files have them. */
  readonly gates?: string | Readonly<Record<string, boolean>> | undefined;
  readonly emulatedVersion?: string | undefined;
  readonly minCompatibilityVersion?: string | undefined;
  readonly emulationForwardCompatible?: boolean | undefined;
  readonly runtimeConfigEmulationForwardCompatible?: boolean | undefined;
}

/** Switches for all gates of a stage that are not set themselves. */
const SPECIAL: Readonly<Record<string, Stage>> = table({ AllAlpha: "ALPHA", AllBeta: "BETA" });

/** Throws with upstream's words. */
export function parseFeatures(flags: FeatureFlags): Features {
  const versions = effectiveVersions(flags);
  const asked = typeof flags.gates === "object" ? new Map(Object.entries(flags.gates)) : readGates(flags.gates ?? "");
  const set = setGates(asked, versions.emulated);
  refuse([...versionFaults(versions), ...set.faults, ...forwardFaults(flags, versions)]);
  const features = featuresOf(versions, set);
  refuse(missingNeeds(features));
  return features;
}

/** Go's aggregate of errors: one stands alone. */
function refuse(faults: readonly string[]): void {
  if (faults.length === 0) return;
  throw new Error(faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`);
}

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

function readGates(value: string): ReadonlyMap<string, boolean> {
  const values = new Map<string, boolean>();
  const components = new Set<string>();
  for (const item of value.split(",").filter((item) => item !== "")) {
    const [component, pair] = splitAt(item, ":");
    components.add(pair === undefined ? "" : component);
    if (pair !== undefined && component !== "kube") throw new Error(`component not registered: ${component}`);
    const [name, given] = splitAt(pair ?? item, "=");
    if (given === undefined) throw new Error(`missing bool value for ${name}`);
    if (!TRUE.has(given) && !FALSE.has(given)) {
      const why = `strconv.ParseBool: parsing ${JSON.stringify(given)}: invalid syntax`;
      throw new Error(`invalid value of ${name}=${given}, err: ${why}`);
    }
    values.set(name, TRUE.has(given));
  }
  if (components.size > 1)
    throw new Error("set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use");
  return values;
}

function splitAt(value: string, separator: string): [string, string | undefined] {
  const at = value.indexOf(separator);
  return at === -1 ? [value.trim(), undefined] : [value.slice(0, at).trim(), value.slice(at + 1).trim()];
}

interface SetGates {
  readonly values: ReadonlyMap<string, boolean>;
  readonly special: ReadonlyMap<string, boolean>;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

function setGates(asked: ReadonlyMap<string, boolean>, emulated: Version): SetGates {
  const values = new Map<string, boolean>();
  const special = new Map<string, boolean>();
  const faults: string[] = [];
  const warnings: string[] = [];
  for (const [name, value] of asked) {
    if (SPECIAL[name] !== undefined) {
      special.set(name, value);
      continue;
    }
    const gate = gates.get(name);
    if (gate === undefined)
      return { values, special, faults: [...faults, `unrecognized feature gate: ${name}`], warnings };
    const spec = specAt(gate, emulated);
    const fault = faultOf(name, value, spec, emulated);
    if (fault !== undefined) faults.push(fault);
    else values.set(name, value);
    const word = spec?.stage === "" ? "GA" : spec?.stage === "DEPRECATED" ? "deprecated" : undefined;
    if (fault === undefined && word !== undefined)
      warnings.push(`Setting ${word} feature gate ${name}=${value}. It will be removed in a future release.`);
  }
  return { values, special, faults, warnings };
}

function faultOf(name: string, value: boolean, spec: GateSpec | undefined, emulated: Version): string | undefined {
  const set = `cannot set feature gate ${name} to ${value}`;
  if (spec === undefined) return `${set}, feature is PreAlpha at emulated version ${text(emulated)}`;
  return spec.locked && spec.default !== value ? `${set}, feature is locked to ${spec.default}` : undefined;
}

function forwardFaults(flags: FeatureFlags, { emulated }: EffectiveVersions): readonly string[] {
  if (isOlder(emulated, BINARY)) return [];
  const words = "cannot be set to true if the emulation version is the same as the binary version";
  return [
    ...(flags.emulationForwardCompatible ? [`ServerRunOptions.EmulationForwardCompatible ${words}`] : []),
    ...(flags.runtimeConfigEmulationForwardCompatible
      ? [`ServerRunOptions.RuntimeConfigEmulationForwardCompatible ${words}`]
      : []),
  ];
}

function featuresOf(
  { emulated, minCompatibility }: EffectiveVersions,
  { values, special, warnings }: SetGates,
): Features {
  const states = new Map<string, FeatureState>();
  const changed: string[] = [];
  for (const [name, stage] of Object.entries(SPECIAL))
    states.set(name, { name, stage, enabled: special.get(name) ?? false });
  for (const [name, gate] of gates) {
    const spec = specAt(gate, emulated);
    if (spec === undefined) continue;
    const enabled = values.get(name) ?? specialValue(spec, special) ?? spec.default;
    states.set(name, { name, stage: spec.stage, enabled });
    if (enabled !== spec.default) changed.push(name);
  }
  const alphas = [...states.values()].filter(
    ({ stage, enabled, name }) => enabled && stage === "ALPHA" && gates.has(name),
  );
  const unsupported = isOlder(emulated, BINARY) && alphas.length > 0;
  const names = alphas.map(({ name }) => name).join(" ");
  return {
    enabled: (name) => {
      const known = states.get(name)?.enabled;
      if (known === undefined && !gates.has(name))
        throw new Error(`feature "${name}" is not registered in FeatureGate`);
      return known ?? false;
    },
    emulated,
    minCompatibility,
    all: () => states.values(),
    changed,
    warnings: unsupported
      ? [
          ...warnings,
          `component has alpha features enabled in emulated version, this is unsupported: features=[${names}]`,
        ]
      : warnings,
  };
}

function specialValue({ stage, locked }: GateSpec, special: ReadonlyMap<string, boolean>): boolean | undefined {
  if (locked) return undefined;
  return stage === "ALPHA" ? special.get("AllAlpha") : stage === "BETA" ? special.get("AllBeta") : undefined;
}

function missingNeeds(features: Features): readonly string[] {
  return [...gates.values()].flatMap(({ name, needs }: Gate) => {
    if (needs.length === 0 || !features.enabled(name)) return [];
    const off = needs.filter((need) => !features.enabled(need)).toSorted();
    return off.length === 0
      ? []
      : [`${name} is enabled, but depends on features that are disabled: [${off.join(" ")}]`];
  });
}

/** v1.36 as it is delivered. */
export const defaultFeatures: Features = parseFeatures({});
