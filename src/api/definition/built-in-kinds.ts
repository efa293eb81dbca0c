/** The kinds of the API as values, in the order of discovery. */

import { type KindFacts, kinds, optionalKinds } from "../facts/index.ts";
import { apiVersionOf, type Kind } from "../machinery/kind.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import { defineKind, keyOf } from "./define-kind.ts";

/**
 * Every kind that a default server serves. `defined`: the kinds with behaviour of their own. The others are made from
 * facts alone.
 */
export function builtInKinds(defined: readonly Kind[]): readonly Kind[] {
  return valuesOf(kinds(), defined);
}

/** Every kind that a server serves only where `--runtime-config` asks for it. */
export function optionalKindsOf(defined: readonly Kind[]): readonly Kind[] {
  return valuesOf(optionalKinds(), defined);
}

function valuesOf(all: readonly KindFacts[], defined: readonly Kind[]): readonly Kind[] {
  const byKey = new Map(defined.map((kind) => [keyOf(kind), kind]));
  return all.map((facts) => byKey.get(keyOf(facts)) ?? defineKind<KubeObject>(apiVersionOf(facts), facts.kind, {}));
}
