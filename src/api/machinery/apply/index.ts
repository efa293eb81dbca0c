/** The public surface of apply. */

export { type Applied, type ApplyRequest, applyConfiguration } from "./apply.ts";
export { type Comparison, compare, isSame } from "./compare.ts";
export { nonconformance } from "./conformance.ts";
export {
  difference,
  emptySet,
  equalSets,
  excludeFields,
  type FieldFilter,
  type FieldSet,
  FieldSetBuilder,
  fieldSet,
  hasPath,
  includeFields,
  intersection,
  isEmpty,
  leaves,
  pathsOf,
  recursiveDifference,
  union,
} from "./field-set.ts";
export { decodeFields, encodeFields, parseFields } from "./fields-v1.ts";
export { managerName, validateManagedFields, validateManagerName } from "./manager-name.ts";
export { merge } from "./merge.ts";
export { ownedPaths } from "./owned-paths.ts";
export {
  isReset,
  type ManagedFields,
  managedFieldsOf,
  parseOwners,
  settleTimes,
  withoutManagedFields,
} from "./owners.ts";
export {
  type ElementPath,
  fieldElement,
  fieldPath,
  keyElement,
  type PathElement,
  printPath,
  valueElement,
} from "./path-element.ts";
export { parentManagedFields, type ReplicasPaths, scaleManagedFields } from "./scale.ts";
export { extractItems, removeItems } from "./select-items.ts";
export { type Convert, type UpdateRequest, updateManagedFields, type Versioned, type WriteContext } from "./update.ts";
export { zeroObject } from "./zero-value.ts";
