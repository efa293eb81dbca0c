/** `cel.bind(name, value, expression)`: a name for a value within an expression. */
import type { Library } from "../functions/function.ts";
import { MacroFault } from "../syntax/macro.ts";
import { Builder, simpleName } from "../syntax/standard-macros.ts";

export const bindings: Library = {
  name: "cel.lib.ext.cel.bindings",
  macros: [
    {
      name: "bind",
      member: true,
      arguments: 3,
      expand: ({ target, args: [variable, init, result], offset }) => {
        if (target?.kind !== "ident" || target.name !== "cel" || init === undefined || result === undefined)
          return undefined;
        const named = simpleName(variable, "cel.bind() variable names must be simple identifiers");
        if (named instanceof MacroFault) return named;
        return new Builder(offset).bind(named, init, result);
      },
    },
  ],
};
