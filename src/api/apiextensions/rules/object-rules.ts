/** All rules of a schema, along its structure. Only parts that lead to a rule are walked. */
import type { FieldPath } from "../../machinery/errors/field-error.ts";
import { isObject, type Json } from "../../machinery/json/json.ts";
import { getKey } from "../../machinery/json/own-key.ts";
import { type Memo, memoized, once } from "../../machinery/schema/memo.ts";
import { itemsByKeys } from "../schema/correlation.ts";
import type { Structural } from "../schema/structural.ts";
import { type CelType, compileRules, entryType, fieldType, itemType, rootType } from "./compiled-rule.ts";
import { type Before, type RuleRun, runRules } from "./run-rules.ts";

export type ObjectRules = (value: Json, old: Json | undefined, at: FieldPath, before: Before, run: RuleRun) => void;

/** Shared when many parts of one schema are compiled. */
export type RulesMemo = Memo<Structural, ObjectRules | undefined>;

/** Undefined if there are no rules. Expressions are compiled on first use. */
export function compileObjectRules(node: Structural, isResource: boolean, memo?: RulesMemo): ObjectRules | undefined {
  const known = memo?.get(node);
  if (known !== undefined) return known.made;
  return hasRules(node) ? rulesOf(node, rootType(node, isResource), memo) : undefined;
}

function rulesOf(node: Structural, type: CelType | undefined, memo: RulesMemo | undefined): ObjectRules | undefined {
  // Parts that CEL cannot see have no rules.
  return type === undefined ? undefined : memoized(memo, node, () => compileNode(node, type, memo));
}

function hasRules({ rules, items, additional, properties }: Structural): boolean {
  if (rules.length > 0 || (items !== undefined && hasRules(items))) return true;
  if (typeof additional === "object" && hasRules(additional)) return true;
  return [...properties.values()].some(hasRules);
}

function compileNode(node: Structural, type: CelType, memo: RulesMemo | undefined): ObjectRules | undefined {
  const own = node.rules.length === 0 ? undefined : once(() => compileRules(node, type));
  const items = node.items && rulesOf(node.items, itemType(type), memo);
  const entries = typeof node.additional === "object" ? rulesOf(node.additional, entryType(type), memo) : undefined;
  const fields = new Map<string, ObjectRules>();
  for (const [name, property] of node.properties) {
    const rules = rulesOf(property, fieldType(type, name, property), memo);
    if (rules !== undefined) fields.set(name, rules);
  }
  if (own === undefined && items === undefined && entries === undefined && fields.size === 0) return undefined;
  return (value, old, at, before, run) => {
    if (value === null) return;
    const was = old ?? undefined;
    if (own !== undefined) runRules(own(), node.type, value, was, at, before, run);
    if (run.isOver) return;
    if (Array.isArray(value)) {
      if (items !== undefined) runItems(node, items, value as Json[], was, at, before, run);
    } else if (isObject(value)) {
      const oldMap = was !== undefined && isObject(was) ? was : {};
      for (const key of entries === undefined ? [] : Object.keys(value)) {
        entries?.(value[key] as Json, getKey(oldMap, key), at.key(key), fieldBefore(before, key), run);
        if (run.isOver) return;
      }
      for (const [name, rules] of fields) {
        const part = getKey(value, name);
        if (part === undefined) continue;
        rules(part, getKey(oldMap, name), at.child(name), fieldBefore(before, name), run);
        if (run.isOver) return;
      }
    }
  };
}

function runItems(
  { listType, listKeys }: Structural,
  rules: ObjectRules,
  list: readonly Json[],
  old: Json | undefined,
  at: FieldPath,
  before: Before,
  run: RuleRun,
): void {
  const keyed = listType === "map" && Array.isArray(old) ? itemsByKeys(listKeys, old) : undefined;
  for (const [i, item] of list.entries()) {
    const { own } = before;
    const inner = own === undefined ? before : { own: own.item(i), around: own };
    rules(item, keyed?.get(item), at.index(i), inner, run);
    if (run.isOver) return;
  }
}

function fieldBefore(before: Before, name: string): Before {
  const { own, around } = before;
  if (own === undefined) return before;
  // apiVersion and kind of the old object do not count: it has been converted to the same version.
  if (around === undefined && (name === "apiVersion" || name === "kind")) return {};
  return { own: own.field(name), around: own };
}
