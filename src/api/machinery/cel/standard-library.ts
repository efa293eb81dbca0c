/** The language's own functions, types and macros. */
import { conversions } from "./conversions.ts";
import type { Library, TypeDeclaration } from "./function.ts";
import { operators } from "./operators.ts";
import { standardMacros } from "./standard-macros.ts";
import { textFunctions } from "./text-functions.ts";
import { timeFunctions } from "./time-functions.ts";
import * as types from "./type.ts";

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
