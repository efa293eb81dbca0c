/**
 * What is owned below one path, as it is put together and as it is written.
 *
 * 1. Objects that were made alike own alike, as the pods of one template do: they share what is written of it, which is frozen. Half of what is kept of a
 *    small object would be copies of that otherwise.
 * 2. What is remembered for that is bounded: by place a few forms, the oldest forgotten first, and none that are large.
 */
import type { JsonObject } from "../json/json.ts";
import { emptyFields } from "./fields-v1.ts";
import type { PathElement } from "./path-element.ts";

const REMEMBERED = 8;
const MAX_ELEMENTS = 128;

/** Sorted as it comes. */
export class OwnedLevel {
  readonly #elements: PathElement[] = [];
  readonly #written: JsonObject[] = [];
  #member = false;
  #fields = emptyFields;

  get isEmpty(): boolean {
    return this.#elements.length === 0;
  }

  get isLarge(): boolean {
    return this.#elements.length > MAX_ELEMENTS;
  }

  /** Once it is written. */
  get fields(): JsonObject {
    return this.#fields;
  }

  /** Items that share their keys are one leaf. */
  merged(element: PathElement): boolean {
    for (let at = 0; at < this.#elements.length; at++) {
      if (this.#elements[at] !== element) continue;
      this.#written[at] = emptyFields;
      return true;
    }
    return false;
  }

  add(element: PathElement, written: JsonObject, compare: (a: PathElement, b: PathElement) => number): void {
    const [elements, all] = [this.#elements, this.#written];
    let at = elements.length;
    for (; at > 0 && compare(elements[at - 1] as PathElement, element) > 0; at--) {
      elements[at] = elements[at - 1] as PathElement;
      all[at] = all[at - 1] as JsonObject;
    }
    elements[at] = element;
    all[at] = written;
  }

  /** What lies below is compared by identity: it is shared, too. */
  isAs(other: OwnedLevel, member: boolean): boolean {
    if (this.#member !== member || this.#elements.length !== other.#elements.length) return false;
    for (let at = 0; at < this.#elements.length; at++) {
      if (this.#written[at] !== other.#written[at] || this.#elements[at] !== other.#elements[at]) return false;
    }
    return true;
  }

  write(member: boolean): JsonObject {
    const fields: Record<string, JsonObject> = {};
    if (member) fields["."] = emptyFields;
    for (let at = 0; at < this.#elements.length; at++)
      fields[this.#elements[at] as PathElement] = this.#written[at] as JsonObject;
    this.#member = member;
    this.#fields = Object.freeze(fields);
    return fields;
  }
}

/** The levels at one place of a schema. */
export class OwnedLevels {
  readonly #known: OwnedLevel[] = [];
  #oldest = 0;

  /** `member`: whether the path itself is owned. Undefined: nothing is. The level is not the caller's any more. */
  written(level: OwnedLevel, member: boolean): JsonObject | undefined {
    if (level.isEmpty) return member ? emptyFields : undefined;
    for (const known of this.#known) if (known.isAs(level, member)) return known.fields;
    const fields = level.write(member);
    if (!level.isLarge) this.#remember(level);
    return fields;
  }

  #remember(level: OwnedLevel): void {
    this.#known[this.#oldest] = level;
    this.#oldest = (this.#oldest + 1) % REMEMBERED;
  }
}
