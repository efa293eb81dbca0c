/** The whole public surface of CEL. Kubernetes' own function libraries are in libraries/. */

export { bindings } from "./bindings.ts";
export { Meter, OutOfBudget, type Range, range, unlimited } from "./cost.ts";
export {
  type Compilation,
  celEnvironment,
  type Environment,
  type EnvironmentOptions,
  type Evaluation,
  type EvaluationOptions,
  type Program,
} from "./environment.ts";
export { equal } from "./equality.ts";
export { escapeName, unescapeName } from "./escape.ts";
export { type SizeEstimator, sizesOf } from "./estimate.ts";
export { typeFromFacts } from "./facts-type.ts";
export type { Binding } from "./frame.ts";
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
} from "./function.ts";
export { HashMap } from "./hash-map.ts";
export { fromJson } from "./json-value.ts";
export type { Macro } from "./macro.ts";
export { optionalTypes } from "./optional-types.ts";
export { compare } from "./order.ts";
export { maxCardinality, maxRequestBytes, type SchemaTypeOptions, typeFromSchema } from "./schema-type.ts";
export { toJson } from "./to-json.ts";
export { twoVariableComprehensions } from "./two-variable-comprehensions.ts";
/** `types.list(types.string)`, `types.formatType(type)`. */
export * as types from "./type.ts";
export * from "./value.ts";
