/** The public surface of expressions: the CEL of policies and match conditions. */

export { type AuthorizerAttributes, type AuthorizerVerdict, celLimits } from "../../machinery/cel/libraries/index.ts";
export {
  Activation,
  type AuthorizerInput,
  CostBudgetError,
  type Evaluated,
  type ExpressionInput,
} from "./activation.ts";
export { base, compileExpression, compileIn, type Expression, type Place, type Returns } from "./compile.ts";
export { Composition, composed } from "./composition.ts";
export { type Matched, matchConditions } from "./conditions.ts";
