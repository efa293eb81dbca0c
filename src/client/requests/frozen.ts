/**
 * What is shared is frozen, whole. What is frozen already is not looked at again.
 *
 * 1. Lists are not: a list that is frozen makes whatever it stands in three times as slow to write as JSON, and all of it is written. Tests freeze them, too.
 */
let lists = false;

/** For tests: whoever changes a list that is shared is found out. */
export function freezeLists(): void {
  lists = true;
}

export function frozen<V>(value: V): V {
  if (typeof value === "object" && value !== null) freeze(value);
  return value;
}

/** Every object that anybody reads passes here: without lists of its values it costs a third. */
function freeze(value: object): void {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) freezePart(value[at]);
    if (lists) Object.freeze(value);
    return;
  }
  if (Object.isFrozen(value)) return;
  for (const key in value) freezePart((value as Readonly<Record<string, unknown>>)[key]);
  Object.freeze(value);
}

function freezePart(part: unknown): void {
  if (typeof part === "object" && part !== null) freeze(part);
}
