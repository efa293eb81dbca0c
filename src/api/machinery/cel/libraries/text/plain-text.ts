/** Values as `string(x)` converts them, besides null and types. */
import { conversions } from "../../standard/conversions.ts";
import { typeName } from "../../values/type.ts";
import { CelError, noSuchOverload, TypeValue, typeOf, type Value } from "../../values/value.ts";

const byKind = new Map(
  conversions
    .find(({ name }) => name === "string")
    ?.overloads.map(({ parameters: [from], call }) => [from?.kind, call]),
);

/** Undefined for values that are not scalars. */
export function plainText(value: Value): string | CelError | undefined {
  if (value === null) return "null";
  if (value instanceof TypeValue) return typeName(value.type);
  const text = byKind.get(typeOf(value).kind)?.(value);
  if (text === undefined || typeof text === "string" || text instanceof CelError) return text;
  return noSuchOverload();
}
