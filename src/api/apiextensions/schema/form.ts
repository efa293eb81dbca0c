/**
 * The form of a custom object: what its schema does not know is pruned, metadata is read by its Go type wherever it stands, nulls that are not
 * allowed are dropped, defaults are filled in.
 *
 * 1. Everything is compiled once. Reading makes a fresh copy; filling in changes that copy, and only walks where defaults are.
 * 2. What was pruned is told by path in the original's order: of the metadata, of all else, of embedded metadata.
 */

import { goKind, goValue } from "../../machinery/json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import { getKey, type OpenObject, setKey } from "../../machinery/json/own-key.ts";
import { type Decoded, DecodeError } from "../../machinery/schema/decode.ts";
import type { OpenForm } from "../../machinery/schema/schema.ts";
import { compileDefaults } from "./defaults.ts";
import { decodeMeta } from "./metadata.ts";
import { compilePruning, type Pruned } from "./pruning.ts";
import type { Structural } from "./structural.ts";

export interface CustomForm extends OpenForm {
  /** As the store or a webhook gave it: metadata that cannot be read is dropped instead of refused. */
  read(object: JsonObject): OpenObject;
}

/** `keepsAll`: nothing is pruned, as definitions of old could ask for. */
export function compileForm(root: Structural, keepsAll: boolean): CustomForm {
  const prune = compilePruning(root, { root: true, keepsAll });
  const fill = compileDefaults(root);
  const copy = (value: Json, lenient: boolean): Decoded => {
    if (!isObject(value)) throw new DecodeError("the object provided is not an object");
    for (const name of ["apiVersion", "kind"]) checkText(name, getKey(value, name));
    const metadata = decodeMeta(getKey(value, "metadata") ?? null, lenient);
    const pruned: Pruned = { unknown: [], embedded: [], lenient };
    const draft = prune(value, pruned) as OpenObject;
    setKey(draft, "metadata", metadata.value);
    return { value: draft, unknown: unknownOf(metadata.unknown, pruned) };
  };
  return {
    decode: (value) => copy(value, false),
    fill: (draft) => fill?.(draft),
    read: (object) => {
      const draft = copy(object, true).value as OpenObject;
      fill?.(draft);
      return draft;
    },
  };
}

const none: readonly string[] = [];

function unknownOf(metadata: readonly string[], { unknown, embedded }: Pruned): readonly string[] {
  if (metadata.length === 0 && unknown.length === 0 && embedded.length === 0) return none;
  return [...metadata.map((path) => `metadata.${path}`), ...unknown.sort(), ...embedded.sort()];
}

function checkText(name: string, value: Json | undefined): void {
  if (value === undefined || typeof value === "string") return;
  const type = value === null ? "<nil>" : goKind(value);
  throw new DecodeError(`.${name} accessor error: ${goValue(value)} is of the type ${type}, expected string`);
}
