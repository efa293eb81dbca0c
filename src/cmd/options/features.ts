/** Flags of feature gates and of the emulated version, for every component. */
import { Option } from "commander";
import type { FeatureFlags } from "#api";
import { boolean } from "./values.ts";

export interface FeatureOptions {
  readonly featureGates?: string;
  readonly emulatedVersion?: string;
  readonly minCompatibilityVersion?: string;
  readonly emulationForwardCompatible?: boolean;
  readonly runtimeConfigEmulationForwardCompatible?: boolean;
}

/** A flag that is given several times has all of its values. */
const joined = (value: string, before: string | undefined) => (before === undefined ? value : `${before},${value}`);

/** Of components that do not emulate other versions: the kubelet and the proxy. */
export function featureGatesOption(): Option {
  return new Option("--feature-gates <gates>", "feature gates to set, such as A=true,B=false").argParser(joined);
}

export function featureOptions(): readonly Option[] {
  return [
    featureGatesOption(),
    new Option("--emulated-version <version>", "version to emulate: 1.33 to 1.36 (default: 1.36)").argParser(joined),
    new Option("--min-compatibility-version <version>", "oldest version that /version reports as compatible").argParser(
      joined,
    ),
  ];
}

/** Of the API server besides. */
export function forwardCompatibleOptions(): readonly Option[] {
  return ["emulation-forward-compatible", "runtime-config-emulation-forward-compatible"].map((name) =>
    new Option(`--${name} [bool]`, "no effect: --emulated-version and --runtime-config alone decide what is served")
      .preset("true")
      .argParser(boolean),
  );
}

export function featuresFrom(options: FeatureOptions): (FeatureFlags & { readonly gates?: string }) | undefined {
  const { featureGates, emulatedVersion, minCompatibilityVersion } = options;
  const { emulationForwardCompatible, runtimeConfigEmulationForwardCompatible } = options;
  const flags = {
    ...(featureGates !== undefined && { gates: featureGates }),
    ...(emulatedVersion !== undefined && { emulatedVersion }),
    ...(minCompatibilityVersion !== undefined && { minCompatibilityVersion }),
    ...(emulationForwardCompatible !== undefined && { emulationForwardCompatible }),
    ...(runtimeConfigEmulationForwardCompatible !== undefined && { runtimeConfigEmulationForwardCompatible }),
  };
  return Object.keys(flags).length === 0 ? undefined : flags;
}
