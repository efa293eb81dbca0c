/** Feature gates of a component: from its flags to the value that it runs with, and what its log says about them. */
import { type Component, type FeatureFlags, type Features, parseFeatures, withoutEffect } from "#api";
import { ClusterError } from "./errors.ts";

/** Those that the process of a cluster, or its nodes, run. */
export const ALL_COMPONENTS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
] as const;

/** Throws ClusterError with upstream's words. */
export function readFeatures(flags: FeatureFlags = {}): Features {
  try {
    return parseFeatures(flags);
  } catch (error) {
    throw new ClusterError((error as Error).message, { cause: error });
  }
}

/** Warnings about gates and versions that were set, for the components that run with them. */
export function featureNotes(
  features: Features,
  flags: FeatureFlags = {},
  components: readonly Component[] = [],
): readonly string[] {
  const { emulationForwardCompatible, runtimeConfigEmulationForwardCompatible } = flags;
  const flag = (name: string) => `--${name} has no effect in this component`;
  return [
    ...features.warnings,
    ...withoutEffect(features, components),
    ...(emulationForwardCompatible ? [flag("emulation-forward-compatible")] : []),
    ...(runtimeConfigEmulationForwardCompatible ? [flag("runtime-config-emulation-forward-compatible")] : []),
    ...(flags.minCompatibilityVersion === undefined
      ? []
      : ["--min-compatibility-version changes only what /version reports"]),
  ];
}
