/** What the names in an expression refer to: variables, constants, types and functions, within a container. */

import type { Type } from "../values/type.ts";
import type { Constant, FunctionDeclaration } from "./function.ts";

export interface Names {
  /** The prefix that names may omit, or a part of it; usually empty. */
  readonly container: string;
  readonly variables: ReadonlyMap<string, Type>;
  /** Types are constants of type `type`. */
  readonly constants: ReadonlyMap<string, Constant>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** Types that are too many to be declared one by one. */
  readonly typeNamed?: ((name: string) => Type | undefined) | undefined;
}

/** The full names that a name may refer to, in order of precedence. */
export function candidates(container: string, name: string): readonly string[] {
  if (name.startsWith(".")) return [name.slice(1)];
  const found: string[] = [];
  for (let prefix = container; prefix !== ""; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf("."))))
    found.push(`${prefix}.${name}`);
  found.push(name);
  return found;
}
