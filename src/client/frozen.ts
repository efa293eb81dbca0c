/** What is shared is frozen, whole. What is frozen already is not looked at again. */
export function frozen<V>(value: V): V {
  if (typeof value === "object" && value !== null) freeze(value);
  return value;
}

/** Every object that anybody reads passes here: without lists of its values it costs a third. */
function freeze(value: object): void {
  if (Object.isFrozen(value)) return;
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) freezePart(value[at]);
  else for (const key in value) freezePart((value as Readonly<Record<string, unknown>>)[key]);
  Object.freeze(value);
}

function freezePart(part: unknown): void {
  if (typeof part === "object" && part !== null) freeze(part);
}
