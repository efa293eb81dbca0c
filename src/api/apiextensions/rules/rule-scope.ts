/**
 * Where the rules of a schema stand while a definition is validated: how often they may run for one object, and what
 * they cost in total.
 */
import type { FieldPath } from "../../machinery/errors/field-error.ts";
import { isObject } from "../../machinery/json/json.ts";
import { once } from "../../machinery/schema/memo.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import type { Structural } from "../schema/structural.ts";
import { type CelType, entryType, fieldType, itemType, rootType } from "./compiled-rule.ts";

/** The maximum of 64 bits: higher costs are capped. */
export const maxCost = 2 ** 64;

/** For all rules of one schema. */
export const totalCostLimit = 100_000_000;

export class TotalCost {
  total = 0;
  /** The four most expensive rules, without those below a hundredth of the limit. */
  readonly #expensive: { readonly path: FieldPath; readonly cost: number }[] = [];

  add(path: FieldPath, cost: number): void {
    this.total = Math.min(this.total + cost, maxCost);
    if (cost < totalCostLimit / 100) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => b.cost - a.cost);
    this.#expensive.length = Math.min(this.#expensive.length, 4);
  }

  get mostExpensive(): readonly FieldPath[] {
    return this.#expensive.map(({ path }) => path);
  }
}

export interface RuleScope {
  readonly node: Structural;
  /** The CEL type; undefined if CEL cannot see the node. */
  readonly type: () => CelType | undefined;
  /** How many of these nodes one object may hold; undefined if nothing limits that. */
  readonly cardinality: number | undefined;
  readonly total: TotalCost;
}

export function rootScope(root: Structural): RuleScope {
  return { node: root, type: once(() => rootType(root, true)), cardinality: 1, total: new TotalCost() };
}

export function fieldScope(scope: RuleScope | undefined, name: string): RuleScope | undefined {
  const node = scope?.node.properties.get(name);
  return scope && node && below(scope, node, () => fieldType(scope.type(), name, node));
}

export function itemScope(scope: RuleScope | undefined): RuleScope | undefined {
  const node = scope?.node.items;
  return scope && node && below(scope, node, () => itemType(scope.type()));
}

export function entryScope(scope: RuleScope | undefined): RuleScope | undefined {
  const node = scope?.node.additional;
  return scope && typeof node === "object" ? below(scope, node, () => entryType(scope.type())) : undefined;
}

function below(scope: RuleScope, node: Structural, type: () => CelType | undefined): RuleScope {
  const most = mostParts(scope.node.source);
  const { cardinality, total } = scope;
  return {
    node,
    // A part of a node that CEL cannot see may have rules of its own.
    type: once(() => type() ?? rootType(node, node.embedded)),
    cardinality: cardinality === undefined || most === undefined ? undefined : timesCapped(cardinality, most),
    total,
  };
}

export function timesCapped(a: number, b: number): number {
  return Math.min(a * b, maxCost);
}

/** How many of each of its parts a value may have. */
function mostParts({ type, additionalProperties, maxProperties, maxItems }: JSONSchemaProps): number | undefined {
  if (type === "array") return maxItems === undefined ? undefined : Math.max(Number(maxItems), 0);
  const isMap = type === "object" && (additionalProperties === true || isObject(additionalProperties ?? null));
  if (!isMap) return 1;
  return maxProperties === undefined ? undefined : Math.max(Number(maxProperties), 0);
}
