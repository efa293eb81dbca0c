/** The public surface of Kubernetes' libraries for CEL. */

export { admissionRequestType, namespaceType, record } from "./admission-types.ts";
export {
  type Authorize,
  type AuthorizerAttributes,
  type AuthorizerUser,
  AuthorizerValue,
  type AuthorizerVerdict,
  type CheckedResource,
  ResourceCheck,
} from "./authz.ts";
export { deviceType, deviceValue, type SelectableAttribute, type SelectableDevice } from "./device.ts";
export {
  type AdmissionOptions,
  admission,
  baseEnvironment,
  baseLibraries,
  celLimits,
  deviceSelectors,
  validationRules,
} from "./environment.ts";
export { jsonPatchType } from "./jsonpatch.ts";
export { objectType } from "./object-types.ts";
export { QuantityValue, quantityType, toQuantity } from "./quantity.ts";
export { SemverValue, semverType, toSemver } from "./semver.ts";
