/**
 * The owned fields below one path, while they are collected and as they are written.
 *
 * 1. Objects of one template own the same fields: they share one frozen value. Otherwise copies of it would be half of
 *    the memory of a small object.
 * 2. The number of remembered values is bounded: a few for each place, the oldest is dropped first, large ones are not
 *    remembered.
 */
import type { JsonObject } from "../json/json.ts";
import { emptyFields } from "./fields-v1.ts";
import { type PathElement, sortElements } from "./path-element.ts";

const REMEMBERED = 8;
const MAX_ELEMENTS = 128;
/** Up to so many elements, a search and an insertion by hand are faster than a map and a sort. */
const FEW = 32;

/** The first few are sorted while they are added, the others when the level is written. */
export class OwnedLevel {
  #elements: PathElement[] = [];
  #written: JsonObject[] = [];
  /** Of many elements; made when one is first asked for. */
  #places: Map<PathElement, number> | undefined;
  #isSorted = true;
  #member = false;
  #fields = emptyFields;

  get isEmpty(): boolean {
    return this.#elements.length === 0;
  }

  get isLarge(): boolean {
    return this.#elements.length > MAX_ELEMENTS;
  }

  /** After `write`. */
  get fields(): JsonObject {
    return this.#fields;
  }

  /** Items that share their keys are one leaf. */
  merged(element: PathElement): boolean {
    const at = this.#placeOf(element);
    if (at < 0) return false;
    this.#written[at] = emptyFields;
    return true;
  }

  #placeOf(element: PathElement): number {
    if (this.#elements.length < FEW) return this.#elements.indexOf(element);
    this.#places ??= new Map(this.#elements.map((each, at) => [each, at]));
    return this.#places.get(element) ?? -1;
  }

  add(element: PathElement, written: JsonObject, compare: (a: PathElement, b: PathElement) => number): void {
    const [elements, all] = [this.#elements, this.#written];
    let at = elements.length;
    if (at >= FEW) {
      if (this.#isSorted && compare(elements[at - 1] as PathElement, element) > 0) this.#isSorted = false;
      this.#places?.set(element, at);
      elements.push(element);
      all.push(written);
      return;
    }
    for (; at > 0 && compare(elements[at - 1] as PathElement, element) > 0; at--) {
      elements[at] = elements[at - 1] as PathElement;
      all[at] = all[at - 1] as JsonObject;
    }
    elements[at] = element;
    all[at] = written;
  }

  /** After the last element was added. */
  sort(): void {
    if (this.#isSorted) return;
    const written = new Map(this.#elements.map((element, at) => [element, this.#written[at] as JsonObject]));
    this.#elements = [...sortElements(this.#elements)];
    this.#written = this.#elements.map((element) => written.get(element) as JsonObject);
    this.#isSorted = true;
  }

  /** Parts are compared by identity: they are shared, too. */
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

  /** `member`: whether the path itself is owned. Undefined: nothing is owned. Takes over the level. */
  written(level: OwnedLevel, member: boolean): JsonObject | undefined {
    if (level.isEmpty) return member ? emptyFields : undefined;
    level.sort();
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
