/**
 * Joins the facts about a built-in kind (names, scope, verbs, structure) with its behaviour, which is written by hand
 * beside it.
 */
import { type KindFacts, kinds, optionalKinds, typeSchema } from "../facts/index.ts";
import type { Kind } from "../machinery/kind.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import type { ObjectSchema } from "../machinery/schema/schema.ts";
import { deprecationOf } from "./deprecation.ts";
import { metaChecksOf } from "./meta-checks.ts";

/** What is written by hand; everything else is a fact. */
export type KindRules<T extends KubeObject> = Omit<
  Kind<T>,
  "group" | "version" | "kind" | "scope" | "names" | "verbs" | "schema" | "served"
>;

const factsByKind = new Map([...kinds(), ...optionalKinds()].map((facts) => [keyOf(facts), facts]));

/** `apiVersion` as objects write it: `v1`, `apps/v1`. */
export function defineKind<T extends KubeObject>(apiVersion: string, kind: string, rules: KindRules<T>): Kind<T> {
  const facts = factsByKind.get(`${apiVersion}/${kind}`);
  if (facts === undefined) throw new Error(`no facts about ${apiVersion} ${kind}`);
  const { group, version, plural, singular, shortNames, categories, scope, verbs, subresources, typeName } = facts;
  let schema: ObjectSchema | undefined;
  return {
    group,
    version,
    kind,
    scope,
    names: { plural, singular, shortNames, categories },
    verbs,
    served: subresources,
    metaChecks: metaChecksOf(keyOf(facts)),
    deprecated: deprecationOf(facts),
    get schema() {
      schema ??= typeSchema(typeName);
      return schema;
    },
    ...rules,
  };
}

export function keyOf({ group, version, kind }: Pick<KindFacts, "group" | "version" | "kind">): string {
  return `${group === "" ? version : `${group}/${version}`}/${kind}`;
}
