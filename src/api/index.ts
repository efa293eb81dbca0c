/** The whole public surface of api: the machinery, server-side apply, the facts, and every built-in kind. */
export { builtIn } from "./all-kinds.ts";
export { defaultTokenRequest, validateTokenRequest } from "./authentication/index.ts";
export { builtInKinds } from "./built-in-kinds.ts";
export {
  allocatesNodePorts,
  type IpFamily,
  initIPFamilies,
  isHeadless,
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
} from "./core/service/index.ts";
export { defineKind, type KindRules, keyOf } from "./define-kind.ts";
export { storageVersionHash, typeNames, typeSchema } from "./facts/index.ts";
export * from "./machinery/apply/index.ts";
export { applySchemaDefaults } from "./machinery/defaults.ts";
export * from "./machinery/index.ts";
export { type MetaRules, validateObjectMeta, validateObjectMetaUpdate } from "./machinery/object-meta.ts";
export { applyStoredForm } from "./machinery/stored-form.ts";
export { zeroValue } from "./machinery/zero.ts";
export { evictionNameFault, isOutsideBudgets, mayGoUnready, spendBudget } from "./policy/index.ts";
/** Types of the objects, by group and version. */
export type * as authentication from "./types/authentication-v1.ts";
export type * as authorization from "./types/authorization-v1.ts";
export type * as core from "./types/core-v1.ts";
export type * as discovery from "./types/discovery-v1.ts";
export type * as flowcontrol from "./types/flowcontrol-v1.ts";
export type * as networking from "./types/networking-v1.ts";
export type * as policy from "./types/policy-v1.ts";
export type * as rbac from "./types/rbac-v1.ts";
