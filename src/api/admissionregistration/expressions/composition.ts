/**
 * The variables of a policy, and expressions that use them.
 *
 * 1. A variable may use those before it. One that does not compile has the type dyn for those after it, so that its
 *    fault is reported once.
 */
import { types } from "../../machinery/cel/index.ts";
import type { Variable } from "../../types/admissionregistration-v1.ts";
import { compileExpression, type Expression, type Place, type Returns } from "./compile.ts";

export class Composition {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly #place: Place;

  constructor(variables: readonly Variable[], params: boolean) {
    const compiled = new Map<string, Expression>();
    // One for all of them: a copy for each would cost the square of their number.
    const known = new Map<string, types.Field>();
    for (const { name, expression } of variables) {
      const variable = compileExpression(expression, "any", { params, variables: known });
      compiled.set(name, variable);
      known.set(name, { json: name, type: variable.ok ? composed(variable.type) : types.dyn });
    }
    this.variables = compiled;
    this.#place = { params, variables: variables.length > 0 ? known : undefined };
  }

  compile(text: string, returns: Returns, place: Pick<Place, "authorizer" | "patches"> = {}): Expression {
    return compileExpression(text, returns, { ...this.#place, ...place });
  }
}

/** The type of a variable where it is used: dyn, unless it is made of scalars, lists and maps. */
export function composed(type: types.Type): types.Type {
  switch (type.kind) {
    case "list":
      return types.list(composed(type.element));
    case "map":
      return types.map(composed(type.key), composed(type.value));
    case "object":
    case "opaque":
    case "type":
    case "parameter":
    case "error":
      return types.dyn;
    default:
      return type;
  }
}
