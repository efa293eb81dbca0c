/**
 * JSONPath as kubectl supports it: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.items[0:2]`,
 * `..name`.
 *
 * 1. A path is compiled once. A path that finds nothing has no results; that is not an error.
 * 2. The number of results is bounded: a path may multiply them with every step.
 */
import { isObject, type Json } from "../machinery/json/json.ts";
import { getKey } from "../machinery/json/own-key.ts";

export class JsonPathError extends Error {
  override readonly name = "JsonPathError";
}

/**
 * Throws a JsonPathError where a step does not fit the value: an index out of bounds, a filter on a value that is not a
 * list.
 */
export type JsonPath = (value: Json) => readonly Json[];

type Step = (values: readonly Json[]) => readonly Json[];

const MAX_RESULTS = 10_000;

/** Throws a JsonPathError for an invalid path. */
export function compileJsonPath(path: string): JsonPath {
  const steps = new Parser(path).steps();
  return (value) => run(steps, [value]);
}

function run(steps: readonly Step[], values: readonly Json[]): readonly Json[] {
  let current = values;
  for (const step of steps) {
    current = step(current);
    if (current.length > MAX_RESULTS) throw new JsonPathError("too many results");
  }
  return current;
}

const letter = /[\p{L}\p{Nd}_]/u;
const fieldEnd = /[ \t\r\n.,[\]$@{}]/;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): readonly Step[] {
    const steps: Step[] = [];
    let recursive = false;
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at);
      if (rest.startsWith("..")) {
        if (recursive) throw new JsonPathError("invalid multiple recursive descent");
        this.#at += 2;
        steps.push(descendants);
        recursive = !letter.test(this.#text[this.#at] ?? "");
        if (!recursive) steps.push(this.#field());
        continue;
      }
      recursive = false;
      steps.push(...this.#step(rest));
    }
    return steps;
  }

  #step(rest: string): readonly Step[] {
    const char = rest[0] ?? "";
    if (rest.startsWith("[?(")) return [this.#filter()];
    if (char === " " || char === "@" || char === "$") {
      this.#at++;
      return [];
    }
    if (char === "[") return this.#brackets();
    if (char === "'" || char === '"') return [constant(this.#quoted())];
    if (char === ".") {
      this.#at++;
      return [this.#field()];
    }
    return [constant(this.#literal(rest))];
  }

  #field(): Step {
    let name = "";
    for (; this.#at < this.#text.length && !fieldEnd.test(this.#text[this.#at] ?? ""); this.#at++) {
      if (this.#text[this.#at] === "\\") this.#at++;
      name += this.#text[this.#at] ?? "";
    }
    return name === "*" ? children : fieldStep(name);
  }

  #literal(rest: string): Json {
    const [word = ""] = /^(?:[+-]?[\d.]+|true|false)/.exec(rest) ?? [];
    if (word === "") throw new JsonPathError(`unrecognized character in action: ${rest[0]}`);
    this.#at += word.length;
    if (word === "true" || word === "false") return word === "true";
    const number = Number(word);
    if (Number.isNaN(number)) throw new JsonPathError(`cannot parse number ${word}`);
    return number;
  }

  #quoted(): string {
    const [whole] = /^'(?:[^'\\]|\\.)*'|^"(?:[^"\\]|\\.)*"/.exec(this.#text.slice(this.#at)) ?? [];
    if (whole === undefined) throw new JsonPathError("unterminated quoted string");
    this.#at += whole.length;
    return whole.slice(1, -1).replace(/\\(.)/g, "$1");
  }

  #brackets(): readonly Step[] {
    const end = this.#text.indexOf("]", this.#at);
    if (end < 0) throw new JsonPathError("unterminated array");
    const inside = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    const parts = inside.split(",");
    if (parts.length === 1) return bracketSteps(inside);
    const alternatives = parts.map((part) => bracketSteps(part.trim()));
    return [(values) => alternatives.flatMap((steps) => run(steps, values))];
  }

  #filter(): Step {
    const [whole, inside = ""] =
      /^\[\?\(((?:[^'")]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\)\]/.exec(this.#text.slice(this.#at)) ?? [];
    if (whole === undefined) throw new JsonPathError("unterminated filter");
    this.#at += whole.length;
    const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(inside) ?? [];
    if (left === undefined || operator === undefined || right === undefined) {
      const exists = new Parser(inside).steps();
      return filterStep((item) => run(exists, [item]).length > 0);
    }
    return filterStep(comparison(new Parser(left).steps(), operator, new Parser(right).steps()));
  }
}

function bracketSteps(inside: string): readonly Step[] {
  const [, key] = /^'([^']*)'$/.exec(inside) ?? [];
  if (key !== undefined) return new Parser(`.${key}`).steps();
  const [, from, to, step] = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(inside === "*" ? ":" : inside) ?? [];
  if (from === undefined) throw new JsonPathError(`invalid array index ${inside}`);
  const numberIn = (text: string | undefined) =>
    text === undefined || text === "" || text === ":" ? undefined : Number(text.replace(":", ""));
  return [sliceStep(numberIn(from) ?? 0, to === undefined ? undefined : { end: numberIn(to) }, numberIn(step) ?? 1)];
}

/** Without `range`: the one item at `from`. */
function sliceStep(from: number, range: { readonly end: number | undefined } | undefined, step: number): Step {
  return (values) =>
    values.flatMap((value) => {
      if (value === null) return [];
      if (!Array.isArray(value)) throw new JsonPathError("not an array or slice");
      const start = from < 0 ? from + value.length : from;
      const asked = range === undefined ? start + 1 : (range.end ?? value.length);
      const end = asked < 0 ? asked + value.length : asked;
      if (end === start) return [];
      if (start < 0 || start >= value.length || end < 0 || end > value.length || start > end)
        throw new JsonPathError(`array index out of bounds: index ${start}, length ${value.length}`);
      if (step <= 0) throw new JsonPathError("step must be > 0");
      return (value as Json[]).slice(start, end).filter((_, i) => i % step === 0);
    });
}

function fieldStep(name: string): Step {
  return (values) => {
    const found: Json[] = [];
    for (const value of values) {
      const part = isObject(value) ? getKey(value, name) : undefined;
      if (part !== undefined) found.push(part);
    }
    return found;
  };
}

function constant(value: Json): Step {
  return (values) => values.map(() => value);
}

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value as Json[];
  return isObject(value) ? Object.values(value) : [];
}

const children: Step = (values) => values.flatMap(childrenOf);

/** Each object and list, itself included, outermost first. */
const descendants: Step = (values) => {
  const found: Json[] = [];
  const visit = (value: Json): void => {
    const parts = childrenOf(value);
    if (parts.length === 0) return;
    if (found.push(value) > MAX_RESULTS) throw new JsonPathError("too many results");
    for (const part of parts) visit(part);
  };
  for (const value of values) visit(value);
  return found;
};

function filterStep(passes: (item: Json) => boolean): Step {
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) throw new JsonPathError("not an array or slice and cannot be filtered");
      return (value as Json[]).filter(passes);
    });
}

function comparison(left: readonly Step[], operator: string, right: readonly Step[]): (item: Json) => boolean {
  const compare = comparisons[operator];
  if (compare === undefined) throw new JsonPathError(`unrecognized filter operator ${operator}`);
  return (item) => {
    const [lefts, rights] = [run(left, [item]), run(right, [item])];
    if (lefts.length > 1 || rights.length > 1) throw new JsonPathError("can only compare one element at a time");
    const [a, b] = [lefts[0], rights[0]];
    if (a === undefined || b === undefined) return false;
    if (typeof a !== typeof b || typeof a === "object") throw new JsonPathError("incompatible types for comparison");
    return compare(a as string, b as string);
  };
}

/** Of two strings, two numbers or two booleans. */
const comparisons: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
