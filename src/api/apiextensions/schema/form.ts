/**
 * The form of a custom object: unknown fields are pruned, metadata is decoded by its Go type wherever it stands, nulls
 * that are not allowed are dropped, defaults are applied.
 *
 * 1. Everything is compiled once. Reading makes a fresh copy; defaults change that copy, and only parts with defaults
 *    are walked.
 * 2. Pruned paths are reported in the order of Kubernetes: the metadata, everything else, embedded metadata.
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
  /** For objects from the store or a webhook: metadata that cannot be decoded is dropped instead of refused. */
  read(object: JsonObject): OpenObject;
}

/** `keepsAll`: nothing is pruned (spec.preserveUnknownFields). */
export function compileForm(root: Structural, keepsAll: boolean): CustomForm {
  const prune = compilePruning(root, { root: true, keepsAll });
  const fill = compileDefaults(root);
  const copy = (value: Json, lenient: boolean, keepsNull = false): Decoded => {
    if (!isObject(value)) throw new DecodeError("the object provided is not an object");
    for (const name of ["apiVersion", "kind"]) checkText(name, getKey(value, name));
    const metadata = decodeMeta(getKey(value, "metadata") ?? null, lenient);
    const pruned: Pruned = { unknown: [], embedded: [], lenient, keepsNull };
    const draft = prune(value, pruned) as OpenObject;
    setKey(draft, "metadata", metadata.value);
    return { value: draft, unknown: unknownOf(metadata.unknown, pruned) };
  };
  return {
    decode: (value, { keepsNull } = {}) => copy(value, false, keepsNull),
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
