/** Every kind that a default server serves, in the order of discovery. */

import { kinds } from "../facts/index.ts";
import { apiVersionOf, type Kind } from "../machinery/kind.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import { defineKind, keyOf } from "./define-kind.ts";

/** `defined`: the kinds with behaviour of their own. The others are made from facts alone. */
export function builtInKinds(defined: readonly Kind[]): readonly Kind[] {
  const byKey = new Map(defined.map((kind) => [keyOf(kind), kind]));
  return kinds().map((facts) => byKey.get(keyOf(facts)) ?? defineKind<KubeObject>(apiVersionOf(facts), facts.kind, {}));
}
