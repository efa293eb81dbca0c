/**
 * JSON Patch, RFC 6902, with the deviations of the Kubernetes API server.
 *
 * 1. The document is never modified: containers on the path of an operation are copied once, the rest is shared.
 * 2. Negative indexes count from the end. The whole document cannot be addressed: a path has at least one step.
 * 3. Null has no children. An `add` without a value adds null.
 * 4. Objects on the path of an operation get sorted keys, as in Kubernetes.
 * 5. The items that all operations together move inside of lists are limited: ten thousand operations at the head of a
 *    list of a million would move each item ten thousand times.
 */

import { badRequest, requestEntityTooLarge } from "../errors/status-errors.ts";
import { equalJson } from "../json/equal.ts";
import { goJson } from "../json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey, type OpenObject, setKey, sortedKeys } from "../json/own-key.ts";
import { unmarshalText } from "../json/unmarshal-text.ts";

export const maxJsonPatchOperations = 10_000;
/** The limit in bytes of what the `copy` operations of one patch may add. */
const maxCopiedBytes = 3 * 1024 * 1024;
const maxMovedItems = 100_000_000;

export class JsonPatchError extends Error {
  override readonly name = "JsonPatchError";
  /** A `test` failed: the document is not the one that the patch was made for. */
  readonly isTest: boolean;

  constructor(message: string, isTest = false) {
    super(message);
    this.isTest = isTest;
  }
}

export type JsonPatch = readonly JsonObject[];

/** Throws a StatusError: 400 for a body that is not a list of operations, 413 for too many. */
export function decodeJsonPatch(value: Json): JsonPatch {
  if (!Array.isArray(value))
    throw badRequest(`error decoding patch: ${unmarshalText(value, "[]handlers.jsonPatchOp")}`);
  const stranger = value.find((operation) => !isObject(operation));
  if (stranger !== undefined)
    throw badRequest(`error decoding patch: ${unmarshalText(stranger, "handlers.jsonPatchOp")}`);
  if (value.length > maxJsonPatchOperations) {
    const limit = `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${value.length}`;
    throw requestEntityTooLarge(limit);
  }
  return value as JsonPatch;
}

export interface JsonPatchOptions {
  /** Whether `replace` of a missing key adds it, as the API server does. Default: true. */
  readonly replaceMissing?: boolean;
}

/** Throws a JsonPatchError where an operation does not apply. */
export function applyJsonPatch(document: Json, patch: JsonPatch, options: JsonPatchOptions = {}): Json {
  const work = new Work(document, options);
  for (const operation of patch) work.apply(operation);
  return work.result();
}

type Container = OpenObject | Json[];

class Work {
  #root: Container | Exclude<Json, object>;
  /** The containers that are our copies. */
  readonly #own = new Set<Container>();
  #copiedBytes = 0;
  #movedItems = 0;
  readonly #replaceMissing: boolean;
  readonly #actions: Readonly<Record<string, (operation: JsonObject) => void>> = {
    add: (operation) => this.#add(pathOf(operation, "add"), operand(operation)),
    remove: (operation) => this.#remove(pathOf(operation, "remove")),
    replace: (operation) => this.#replace(pathOf(operation, "replace"), operand(operation)),
    move: (operation) => this.#move(operation),
    copy: (operation) => this.#copyTo(operation),
    test: (operation) => this.#test(pathOf(operation, "test"), operand(operation)),
  };

  constructor(document: Json, { replaceMissing = true }: JsonPatchOptions) {
    this.#replaceMissing = replaceMissing;
    this.#root = typeof document === "object" && document !== null ? this.#copy(document) : document;
  }

  apply(operation: JsonObject): void {
    const kind = getKey(operation, "op");
    const act = typeof kind === "string" && Object.hasOwn(this.#actions, kind) ? this.#actions[kind] : undefined;
    if (act === undefined) throw new JsonPatchError(`Unexpected kind: ${typeof kind === "string" ? kind : "unknown"}`);
    act(operation);
  }

  result(): Json {
    return this.#finished(this.#root);
  }

  /** A copy in which the objects that are ours have sorted keys. */
  #finished(node: Json): Json {
    if (typeof node !== "object" || node === null || !this.#own.has(node as Container)) return node;
    if (Array.isArray(node)) return node.map((item) => this.#finished(item));
    const sorted = sortedKeys(node as JsonObject);
    for (const key of Object.keys(sorted)) setKey(sorted, key, this.#finished(sorted[key] ?? null));
    return sorted;
  }

  #add(path: string, value: Json): void {
    const target = this.#locate(path) ?? fail(`add operation does not apply: doc is missing path: "${path}"`, missing);
    within(`error in add for path: '${path}'`, () => this.#insert(target, value));
  }

  #remove(path: string): void {
    const target =
      this.#locate(path) ?? fail(`remove operation does not apply: doc is missing path: "${path}"`, missing);
    within(`error in remove for path: '${path}'`, () => this.#take(target));
  }

  #replace(path: string, value: Json): void {
    const target =
      this.#locate(path) ?? fail(`replace operation does not apply: doc is missing path: ${path}`, missing);
    const { container, key } = target;
    // Kubernetes does not check that the key exists: `replace` of a missing key adds it.
    if (!Array.isArray(container) && this.#replaceMissing) setKey(container, key, value);
    else if (read(target) === undefined) fail(`replace operation does not apply: doc is missing key: ${path}`, missing);
    else if (Array.isArray(container)) container[indexOf(container.length, key)] = value;
    else setKey(container, key, value);
  }

  #move(operation: JsonObject): void {
    const from = fromOf(operation, "move");
    const source =
      this.#locate(from) ?? fail(`move operation does not apply: doc is missing from path: ${from}`, missing);
    const value = within(`error in move for path: '${source.key}'`, () => this.#take(source));
    const path = pathOf(operation, "move");
    const target =
      this.#locate(path) ?? fail(`move operation does not apply: doc is missing destination path: ${path}`, missing);
    within(`error in move for path: '${path}'`, () => this.#insert(target, value));
  }

  #copyTo(operation: JsonObject): void {
    const from = fromOf(operation, "copy");
    const source =
      this.#locate(from) ?? fail(`copy operation does not apply: doc is missing from path: ${from}`, missing);
    if (read(source) === undefined)
      fail(`error in copy for from: '${from}'`, `unable to get nonexistent key: ${source.key}: ${missing}`);
    const path = pathOf(operation, "copy");
    const target =
      this.#locate(path) ?? fail(`copy operation does not apply: doc is missing destination path: ${path}`, missing);
    // Read now: the way to the target may lead through it, and sorts its keys.
    const value = read(source) ?? null;
    this.#copiedBytes += goJson(value).length;
    if (this.#copiedBytes > maxCopiedBytes) {
      const size = `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}`;
      throw new JsonPatchError(`${size}, exceeding the limit ${maxCopiedBytes}`);
    }
    within("error while adding value during copy", () => this.#insert(target, this.#finished(value)));
  }

  #test(path: string, wanted: Json): void {
    const target = this.#locate(path) ?? fail(`test operation does not apply: is missing path: ${path}`, missing);
    const value = read(target) ?? null;
    if (!equalJson(value, wanted)) throw new JsonPatchError(`testing value ${path} failed: test failed`, true);
  }

  /** The container that the last step of the path points into; undefined where the path leads nowhere. */
  #locate(path: string): Place | undefined {
    const steps = path.split("/").slice(1).map(decodeStep);
    const key = steps.pop();
    if (key === undefined) return undefined;
    let container = this.#root;
    for (const step of steps) {
      if (typeof container !== "object" || container === null) return undefined;
      const index: string | number = Array.isArray(container) ? (lenientIndex(container.length, step) ?? "") : step;
      const child: Json | undefined = Array.isArray(container) ? container[index as number] : getKey(container, step);
      if (typeof child !== "object" || child === null) return undefined;
      const own = this.#copy(child);
      if (Array.isArray(container)) container[index as number] = own;
      else setKey(container, step, own);
      container = own;
    }
    return typeof container === "object" && container !== null ? { container, key } : undefined;
  }

  #insert({ container, key }: Place, value: Json): void {
    if (!Array.isArray(container)) setKey(container, key, value);
    else if (key === "-") container.push(value);
    else {
      const index = indexOf(container.length + 1, key, `value was not a proper array index: '${key}'`);
      this.#countMoved(container.length - index);
      container.splice(index, 0, value);
    }
  }

  #take({ container, key }: Place): Json {
    if (Array.isArray(container)) {
      const index = indexOf(container.length, key);
      this.#countMoved(container.length - index);
      return container.splice(index, 1)[0] ?? null;
    }
    const value = getKey(container, key);
    if (value === undefined) return fail(`Unable to remove nonexistent key: ${key}`, missing);
    delete container[key];
    return value;
  }

  #countMoved(items: number): void {
    this.#movedItems += items;
    if (this.#movedItems > maxMovedItems)
      throw new JsonPatchError(`the operations move more than ${maxMovedItems} items of lists`);
  }

  #copy(node: object): Container {
    if (this.#own.has(node as Container)) return node as Container;
    const copy: Container = Array.isArray(node) ? [...(node as Json[])] : { ...(node as JsonObject) };
    this.#own.add(copy);
    return copy;
  }
}

interface Place {
  readonly container: Container;
  readonly key: string;
}

const missing = "missing value";

function pathOf(operation: JsonObject, kind: string): string {
  return textOf(operation, "path", `${kind} operation failed to decode path`);
}

function fromOf(operation: JsonObject, kind: string): string {
  return textOf(operation, "from", `${kind} operation failed to decode from`);
}

function textOf(operation: JsonObject, field: "path" | "from", why: string): string {
  const value = getKey(operation, field);
  if (typeof value === "string") return value;
  return fail(why, value === undefined || value === null ? missing : unmarshalText(value, "string"));
}

function operand(operation: JsonObject): Json {
  return getKey(operation, "value") ?? null;
}

function read({ container, key }: Place): Json | undefined {
  if (!Array.isArray(container)) return getKey(container, key);
  const index = lenientIndex(container.length, key);
  return index === undefined ? undefined : container[index];
}

/** `places`: how many there are, one more than items where a new one is inserted. */
function indexOf(places: number, key: string, prefix?: string): number {
  if (!/^[+-]?\d+$/.test(key)) {
    const why = `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`;
    throw new JsonPatchError(prefix === undefined ? why : `${prefix}: ${why}`);
  }
  return (
    lenientIndex(places, key) ?? fail(`Unable to access invalid index: ${Number(key)}`, "invalid index referenced")
  );
}

function lenientIndex(places: number, key: string): number | undefined {
  if (!/^[+-]?\d+$/.test(key)) return undefined;
  const index = Number(key) < 0 ? Number(key) + places : Number(key);
  return index >= 0 && index < places ? index : undefined;
}

function decodeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function within<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof JsonPatchError ? new JsonPatchError(`${what}: ${error.message}`) : error;
  }
}

function fail(what: string, why: string): never {
  throw new JsonPatchError(`${what}: ${why}`);
}
