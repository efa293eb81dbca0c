/**
 * Deep freeze for shared objects. A frozen object is not visited again.
 *
 * 1. Lists are not frozen: an object with a frozen list takes JSON.stringify three times as long, and all objects are
 *    written. Tests freeze lists, too: the switch is set once, before a test file runs.
 */
let lists = false;

/** For tests: a change of a shared list throws. */
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
