/** The public surface of CEL. Kubernetes' own function libraries are in libraries/. */

export { type SizeEstimator, sizesOf } from "./check/sizes.ts";
export { typeFromFacts } from "./data/facts-type.ts";
export { maxCardinality, maxRequestBytes, type SchemaTypeOptions, typeFromSchema } from "./data/schema-type.ts";
export { toJson } from "./data/to-json.ts";
export { Meter, OutOfBudget, type Range, range, unlimited } from "./functions/cost.ts";
export {
  type CallEstimate,
  type Constant,
  type Estimate,
  type FunctionDeclaration,
  fixedCost,
  fn,
  global,
  type Library,
  member,
  type Overload,
  type RunCost,
  type SizedNode,
  type TypeDeclaration,
} from "./functions/function.ts";
export {
  type Compilation,
  celEnvironment,
  type Environment,
  type EnvironmentOptions,
  type Evaluation,
  type EvaluationOptions,
  type Program,
} from "./program/environment.ts";
export type { Binding } from "./program/frame.ts";
export { bindings } from "./standard/bindings.ts";
export { optionalTypes } from "./standard/optional-types.ts";
export { twoVariableComprehensions } from "./standard/two-variable-comprehensions.ts";
export type { Macro } from "./syntax/macro.ts";
export { equal } from "./values/equality.ts";
export { escapeName, unescapeName } from "./values/escape.ts";
export { HashMap } from "./values/hash-map.ts";
export { fromJson } from "./values/json-value.ts";
export { compare } from "./values/order.ts";
/** `types.list(types.string)`, `types.formatType(type)`. */
export * as types from "./values/type.ts";
export * from "./values/value.ts";
