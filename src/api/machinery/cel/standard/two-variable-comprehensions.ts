/** all, exists, existsOne, transformList, transformMap and transformMapEntry over index and item, or key and value. */

import { fn, global, type Library } from "../functions/function.ts";
import type { Expr } from "../syntax/ast.ts";
import { type Macro, type MacroCall, MacroFault } from "../syntax/macro.ts";
import { all, Builder, collect, exists, existsOne, simpleName, type Variables } from "../syntax/standard-macros.ts";
import { insertAll, insertInto } from "../values/growing.ts";
import { HashMap } from "../values/hash-map.ts";
import * as types from "../values/type.ts";
import { CelError, type MapValue, type Value } from "../values/value.ts";

const k = types.parameter("K");
const v = types.parameter("V");
const anyMap = types.map(k, v);

function variablesOf({ args }: MacroCall): Variables | MacroFault {
  const first = simpleName(args[0], "argument must be a simple name");
  if (first instanceof MacroFault) return first;
  const second = simpleName(args[1], "argument must be a simple name");
  if (second instanceof MacroFault) return second;
  if (first === second) return new MacroFault(`duplicate variable name: ${first}`, args[1]?.offset ?? 0);
  return { variable: first, secondVariable: second };
}

type Expand = (make: Builder, range: Expr, variables: Variables, rest: readonly Expr[]) => Expr | undefined;

function over(name: string, count: number, expand: Expand): Macro {
  return {
    name,
    member: true,
    arguments: count,
    expand: (call) => {
      const variables = variablesOf(call);
      if (variables instanceof MacroFault) return variables;
      return call.target && expand(new Builder(call.offset), call.target, variables, call.args.slice(2));
    },
  };
}

function quantifier(name: string, expand: typeof all): Macro {
  return over(name, 3, (make, range, variables, [predicate]) => predicate && expand(make, range, variables, predicate));
}

/** With a filter before the transformation, or without. */
function transform(
  name: string,
  expand: (make: Builder, range: Expr, variables: Variables, filter: Expr | undefined, made: Expr) => Expr,
): readonly Macro[] {
  return [
    over(name, 3, (make, range, variables, [made]) => made && expand(make, range, variables, undefined, made)),
    over(name, 4, (make, range, variables, [filter, made]) => made && expand(make, range, variables, filter, made)),
  ];
}

function intoMap(make: Builder, range: Expr, variables: Variables, filter: Expr | undefined, insert: Expr): Expr {
  return make.fold({
    ...variables,
    range,
    init: make.emptyMap(),
    condition: make.literal(true),
    step: filter === undefined ? insert : make.call("_?_:_", filter, insert, make.accu),
    result: make.accu,
  });
}

function copied(map: MapValue): HashMap | CelError {
  const copy = new HashMap();
  const fault = insertAll(copy, map);
  return fault instanceof CelError ? fault : copy;
}

export const twoVariableComprehensions: Library = {
  name: "cel.lib.ext.comprev2",
  functions: [
    fn(
      "cel.@mapInsert",
      global("@mapInsert_map_key_value", [anyMap, k, v], anyMap, (map: MapValue, key: Value, value: Value) => {
        const copy = copied(map);
        return copy instanceof CelError ? copy : insertInto(copy, key, value);
      }),
      global("@mapInsert_map_map", [anyMap, anyMap], anyMap, (map: MapValue, more: MapValue) => {
        const copy = copied(map);
        return copy instanceof CelError ? copy : insertAll(copy, more);
      }),
    ),
  ],
  macros: [
    quantifier("all", all),
    quantifier("exists", exists),
    quantifier("existsOne", existsOne),
    quantifier("exists_one", existsOne),
    ...transform("transformList", collect),
    ...transform("transformMap", (make, range, variables, filter, made) =>
      intoMap(
        make,
        range,
        variables,
        filter,
        make.call("cel.@mapInsert", make.accu, make.ident(variables.variable), made),
      ),
    ),
    ...transform("transformMapEntry", (make, range, variables, filter, made) =>
      intoMap(make, range, variables, filter, make.call("cel.@mapInsert", make.accu, made)),
    ),
  ],
};
