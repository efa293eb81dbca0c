/** The language's own functions, types and macros. */

import type { Library, TypeDeclaration } from "../functions/function.ts";
import { standardMacros } from "../syntax/standard-macros.ts";
import * as types from "../values/type.ts";
import { conversions } from "./conversions.ts";
import { operators } from "./operators.ts";
import { textFunctions } from "./text-functions.ts";
import { timeFunctions } from "./time-functions.ts";

const namedTypes: readonly TypeDeclaration[] = [
  types.bool,
  types.int,
  types.uint,
  types.double,
  types.string,
  types.bytes,
  types.nullType,
  types.duration,
  types.timestamp,
  types.list(types.dyn),
  types.map(types.dyn, types.dyn),
  types.meta(types.dyn),
].map((type) => ({ type }));

export const standardLibrary: Library = {
  name: "cel.lib.std",
  functions: [...operators, ...conversions, ...textFunctions, ...timeFunctions],
  types: namedTypes,
  macros: standardMacros,
};
