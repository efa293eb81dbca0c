/** Which overloads of a function accept given arguments, and the type of their result. */
import type { FunctionDeclaration, Overload } from "../functions/function.ts";
import type { Type } from "../values/type.ts";
import * as types from "../values/type.ts";
import { sameType } from "../values/type.ts";
import { Bindings } from "./unify.ts";

export interface Accepting {
  readonly overloads: readonly Overload[];
  readonly result: Type;
}

export class OverloadResolver {
  private readonly bindings: Bindings;
  private parameters = 0;

  /** Type parameters that the arguments determine are bound in `bindings`. */
  constructor(bindings: Bindings) {
    this.bindings = bindings;
  }

  /** A fresh type parameter. */
  parameter(): Type {
    return types.parameter(`_var${this.parameters++}`);
  }

  /** Undefined if none accepts them. Overloads with different results have the result dyn. */
  accepting(declared: FunctionDeclaration, argTypes: readonly Type[], member: boolean): Accepting | undefined {
    const overloads: Overload[] = [];
    let result: Type | undefined;
    for (const overload of declared.overloads) {
      if (overload.member !== member) continue;
      const fresh = this.fresh(overload);
      if (!this.bindings.assignAll(argTypes, fresh.parameters)) continue;
      overloads.push(overload);
      const type = this.bindings.substitute(fresh.result);
      if (result === undefined) result = type;
      else if (result.kind !== "dyn" && !sameType(result, type)) result = types.dyn;
    }
    return result && { overloads, result };
  }

  /** An overload with fresh type parameters. */
  private fresh(overload: Overload): Pick<Overload, "parameters" | "result"> {
    const renamed = new Bindings();
    const names = new Set<string>();
    for (const type of [...overload.parameters, overload.result]) collectParameters(type, names);
    if (names.size === 0) return overload;
    for (const name of names) renamed.assign(this.parameter(), types.parameter(name));
    return {
      parameters: overload.parameters.map((type) => renamed.substitute(type)),
      result: renamed.substitute(overload.result),
    };
  }
}

function collectParameters(type: Type, into: Set<string>): void {
  switch (type.kind) {
    case "parameter":
      into.add(type.name);
      break;
    case "list":
      collectParameters(type.element, into);
      break;
    case "map":
      collectParameters(type.key, into);
      collectParameters(type.value, into);
      break;
    case "type":
      collectParameters(type.of, into);
      break;
    case "opaque":
      for (const each of type.parameters) collectParameters(each, into);
      break;
  }
}
