/** The public surface of features. */
export { type DropFields, disabledFields } from "./disabled-fields.ts";
export { actingIn, type Component, isComponent, withoutEffect } from "./effects.ts";
export { defaultFeatures, type FeatureFlags, type FeatureState, type Features, parseFeatures } from "./features.ts";
export { type GatedField, gatedFields, type PathStep } from "./gated-fields.ts";
export { type Gate, type GateSpec, gates, type Stage, specAt } from "./gates.ts";
export { shownAt } from "./introduced.ts";
export { type BuildFacts, registerBuildInfo, registerFeatureMetrics } from "./metrics.ts";
export { BINARY, FLOOR, type Version } from "./version.ts";
