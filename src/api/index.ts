/** The public surface of api: the machinery, server-side apply, the facts, and every built-in kind. */

export * from "./admissionregistration/expressions/index.ts";
export {
  type CheckedKind,
  expressionWarnings,
  type ResourceToCheck,
  resourcesToCheck,
} from "./admissionregistration/type-checking.ts";
export { builtIn, optionalKinds } from "./all-kinds.ts";
export {
  type AcceptedNames,
  acceptNames,
  apiApproval,
  type ConditionFacts,
  type CustomKind,
  type CustomKindNames,
  compareVersions,
  compileCustomKind,
  convertNone,
  customKindNames,
  isConditionTrue,
  NotStructuralError,
  nonStructuralSchema,
  nonStructuralViolations,
} from "./apiextensions/index.ts";
export { defaultTokenRequest, validateTokenRequest } from "./authentication/index.ts";
export { compareSemanticVersions, parseSemanticVersion } from "./coordination/index.ts";
export { repackSubsets } from "./core/endpoints/repack-subsets.ts";
export { missingNodeFeatures, neededNodeFeatures } from "./core/node/declared-features.ts";
export { hasPodLevelResources, podLimits, podRequests, qosClassOf, type Totals } from "./core/pod/index.ts";
export * from "./core/quota/index.ts";
export { isExtendedResource } from "./core/resources/resource-list.ts";
export {
  allocatesNodePorts,
  type IpFamily,
  initIPFamilies,
  isHeadless,
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
} from "./core/service/index.ts";
export { builtInKinds } from "./definition/built-in-kinds.ts";
export { humanDuration } from "./definition/columns.ts";
export { defineKind, type KindRules, keyOf } from "./definition/define-kind.ts";
export { parseRuntimeConfig, type RuntimeConfig, RuntimeConfigError } from "./definition/runtime-config.ts";
export { isTypeOf, storageVersionHash, typeNames, typeSchema } from "./facts/index.ts";
export { type GroupVersion, KNOWN_VERSIONS } from "./facts/known-versions.ts";
export {
  BINARY as BINARY_VERSION,
  type BuildFacts,
  type Component,
  type DropFields,
  defaultFeatures,
  disabledFields,
  type FeatureFlags,
  type FeatureState,
  type Features,
  isComponent,
  parseFeatures,
  registerBuildInfo,
  registerFeatureMetrics,
  shownAt,
  type Version,
  withoutEffect,
} from "./features/index.ts";
export { kinds } from "./kinds.ts";
export * from "./machinery/apply/index.ts";
export * from "./machinery/index.ts";
export { changedMetaErrors, type KindMetaRules, ownMetaErrors, serverMetaErrors } from "./machinery/meta-passes.ts";
export { type MetaRules, validateObjectMeta } from "./machinery/object-meta.ts";
export { applySchemaDefaults } from "./machinery/schema/defaults.ts";
export { applyStoredForm } from "./machinery/schema/stored-form.ts";
export { zeroValue } from "./machinery/schema/zero.ts";
export { optional } from "./optional-names.ts";
export { evictionNameFault, isOutsideBudgets, mayGoUnready, spendBudget } from "./policy/index.ts";
export * from "./policy/pod-security/index.ts";
export { type ServedApis, servedKinds } from "./served-kinds.ts";
export {
  type CsiIdentity,
  csiIdentity,
  csiVolumeName,
  migratedDriver,
  migratedPlugin,
  needsAttach,
  parseCsiVolumeName,
} from "./storage/index.ts";
/** Types of the objects, by group and version. */
export type * as admissionregistration from "./types/admissionregistration-v1.ts";
export type * as apiextensions from "./types/apiextensions-v1.ts";
export type * as apiregistration from "./types/apiregistration-v1.ts";
export type * as apiserverinternal from "./types/apiserverinternal-v1alpha1.ts";
export type * as apps from "./types/apps-v1.ts";
export type * as authentication from "./types/authentication-v1.ts";
export type * as authorization from "./types/authorization-v1.ts";
export type * as autoscaling from "./types/autoscaling-v2.ts";
export type * as batch from "./types/batch-v1.ts";
export type * as certificates from "./types/certificates-v1.ts";
export type * as certificatesV1beta1 from "./types/certificates-v1beta1.ts";
export type * as coordination from "./types/coordination-v1.ts";
export type * as coordinationV1beta1 from "./types/coordination-v1beta1.ts";
export type * as core from "./types/core-v1.ts";
export type * as discovery from "./types/discovery-v1.ts";
export type * as events from "./types/events-v1.ts";
export type * as flowcontrol from "./types/flowcontrol-v1.ts";
export type * as meta from "./types/meta-v1.ts";
export type * as networking from "./types/networking-v1.ts";
export type * as node from "./types/node-v1.ts";
export type * as policy from "./types/policy-v1.ts";
export type * as rbac from "./types/rbac-v1.ts";
export type * as resource from "./types/resource-v1.ts";
export type * as resourceV1alpha3 from "./types/resource-v1alpha3.ts";
export type * as scheduling from "./types/scheduling-v1.ts";
export type * as schedulingV1alpha2 from "./types/scheduling-v1alpha2.ts";
export type * as storage from "./types/storage-v1.ts";
export type * as storagemigration from "./types/storagemigration-v1beta1.ts";
export { withoutPrivileged } from "./without-privileged.ts";
