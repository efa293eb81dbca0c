/**
 * Whether a write fits into all quotas of its namespace, and the usage afterwards.
 *
 * 1. Only the usage in a quota's status counts: a quota whose usage is not known yet refuses what it would measure.
 * 2. A change is charged for what it adds; the controller finds what it frees.
 */

import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
  zeroQuantity,
} from "../../machinery/scalars/quantity.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import type { ResourceQuota, ScopedResourceSelectorRequirement } from "../../types/core-v1.ts";
import type { Totals } from "../pod/resources/container-totals.ts";
import type { QuotaEvaluator, QuotaWrite } from "./evaluator.ts";

/** A quota with its amounts parsed. */
export interface QuotaState {
  readonly quota: ResourceQuota;
  readonly hard: Totals;
  readonly used: Totals;
}

/** Resources that may be used only where a quota covers them. */
export interface LimitedResource {
  readonly apiGroup?: string;
  readonly resource: string;
  readonly matchContains?: readonly string[];
  readonly matchScopes?: readonly ScopedResourceSelectorRequirement[];
}

export type Charged =
  /** The same states, by reference, where nothing is charged. */
  | { readonly ok: true; readonly quotas: readonly QuotaState[] }
  | { readonly ok: false; readonly why: string; readonly forbidden: boolean };

export function quotaState(quota: ResourceQuota): QuotaState {
  return { quota, hard: read(quota.status?.hard), used: read(quota.status?.used) };
}

export function usedTexts({ used }: QuotaState): Record<string, string> {
  return Object.fromEntries(
    Object.entries(used)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, amount]) => [name, formatQuantity(amount)]),
  );
}

export function charge(
  quotas: readonly QuotaState[],
  write: QuotaWrite,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
  now: number,
): Charged {
  const { object } = write;
  if (!evaluator.handles(write)) return { ok: true, quotas };
  const concerned: QuotaState[] = [];
  const covered = new Set<string>();
  const coveredScopes = new Set<string>();
  for (const state of quotas) {
    for (const scope of scopesOf(state.quota)) {
      if (evaluator.matchesScope(scope, object)) coveredScopes.add(scope.scopeName);
    }
    if (!matches(evaluator, state, object)) continue;
    const names = evaluator.matching(Object.keys(state.hard));
    const missing = evaluator.constraints?.(names, object);
    if (missing !== undefined) return refused(`failed quota: ${state.quota.metadata.name}: ${missing}`);
    if (names.some((name) => state.used[name] === undefined)) {
      return refused(
        `status unknown for quota: ${state.quota.metadata.name}, resources: ${[...names].sort().join(",")}`,
      );
    }
    concerned.push(state);
    for (const name of names) covered.add(name);
  }
  if (concerned.length === 0 && limited.length === 0) return { ok: true, quotas };

  const usage = evaluator.usage(object, now);
  const negative = namesWhere(usage, (amount) => compareQuantities(amount, zeroQuantity) < 0);
  if (negative.length > 0) return refused(`quota usage is negative for resource(s): ${negative.join(",")}`);
  const added = addedUsage(write, evaluator, usage, now);
  const additions = new Map<QuotaState, Totals>();
  for (const state of concerned) {
    const before = write.old !== undefined && matches(evaluator, state, write.old);
    const amounts = positive(before ? added : usage);
    if (Object.keys(amounts).length > 0) additions.set(state, amounts);
  }
  const isFree = concerned.length === 0 ? Object.keys(positive(added)).length === 0 : additions.size === 0;
  if (isFree) return { ok: true, quotas };

  const uncovered = limitedNames(evaluator, usage, limited).filter((name) => !covered.has(name));
  if (uncovered.length > 0) return refused(`insufficient quota to consume: ${uncovered.join(",")}`);
  const bare = limitedScopes(evaluator, object, limited).filter(({ scopeName }) => !coveredScopes.has(scopeName));
  if (bare.length > 0) {
    return { ok: false, forbidden: false, why: `insufficient quota to match these scopes: ${scopesText(bare)}` };
  }
  return addAll(quotas, additions, write.subresource !== "status");
}

function addAll(quotas: readonly QuotaState[], additions: ReadonlyMap<QuotaState, Totals>, bounded: boolean): Charged {
  const result: QuotaState[] = [];
  for (const state of quotas) {
    const requested = masked(additions.get(state) ?? {}, Object.keys(state.hard));
    const next = { ...state.used };
    for (const [name, amount] of Object.entries(requested)) {
      const before = next[name];
      next[name] = before === undefined ? amount : addQuantities(before, amount);
    }
    const exceeded = namesWhere(masked(next, Object.keys(requested)), (amount, name) => {
      const most = state.hard[name];
      return most !== undefined && compareQuantities(amount, most) > 0;
    });
    if (bounded && exceeded.length > 0) {
      const [asked, used, most] = [requested, state.used, state.hard].map((amounts) => text(masked(amounts, exceeded)));
      return refused(
        `exceeded quota: ${state.quota.metadata.name}, requested: ${asked}, used: ${used}, limited: ${most}`,
      );
    }
    result.push(additions.has(state) && Object.keys(requested).length > 0 ? { ...state, used: next } : state);
  }
  return { ok: true, quotas: result };
}

export function scopesOf({ spec }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] {
  const plain = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" as const }));
  return [...plain, ...(spec?.scopeSelector?.matchExpressions ?? [])];
}

function matches(evaluator: QuotaEvaluator, { quota, hard }: QuotaState, object: KubeObject): boolean {
  return (
    evaluator.matching(Object.keys(hard)).length > 0 &&
    scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object))
  );
}

/** What a change adds to the usage; all of it where there was no old object. */
function addedUsage({ old }: QuotaWrite, evaluator: QuotaEvaluator, usage: Totals, now: number): Totals {
  if (old === undefined || (old.metadata.resourceVersion ?? "") === "") return usage;
  const before = evaluator.usage(old, now);
  return Object.fromEntries(
    Object.entries(usage).map(([name, amount]) => {
      const was = before[name];
      if (was === undefined) return [name, amount];
      return [name, compareQuantities(amount, was) > 0 ? subtractQuantities(amount, was) : zeroQuantity];
    }),
  );
}

function limitedNames(
  { group, plural }: QuotaEvaluator,
  usage: Totals,
  limited: readonly LimitedResource[],
): readonly string[] {
  const rules = limited.filter((each) => (each.apiGroup ?? "") === group && each.resource === plural);
  const used = namesWhere(usage, (amount) => compareQuantities(amount, zeroQuantity) > 0);
  return used.filter((name) =>
    rules.some(({ matchContains = [] }) => matchContains.some((part) => name.includes(part))),
  );
}

function limitedScopes(
  evaluator: QuotaEvaluator,
  object: KubeObject,
  limited: readonly LimitedResource[],
): readonly ScopedResourceSelectorRequirement[] {
  return limited.flatMap(({ matchScopes = [] }) =>
    matchScopes.filter((scope) => evaluator.matchesScope(scope, object)),
  );
}

function scopesText(scopes: readonly ScopedResourceSelectorRequirement[]): string {
  const texts = scopes.map(
    ({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(" ")}]}`,
  );
  return `[${texts.join(" ")}]`;
}

function refused(why: string): Charged {
  return { ok: false, why, forbidden: true };
}

function read(amounts: Readonly<Record<string, string>> | undefined): Totals {
  return Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));
}

function positive(amounts: Totals): Totals {
  return Object.fromEntries(Object.entries(amounts).filter(([, { unscaled }]) => unscaled !== 0n));
}

function masked(amounts: Totals, names: readonly string[]): Totals {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => names.includes(name)));
}

function namesWhere(amounts: Totals, is: (amount: Totals[string], name: string) => boolean): readonly string[] {
  return Object.entries(amounts)
    .filter(([name, amount]) => is(amount, name))
    .map(([name]) => name)
    .sort();
}

function text(amounts: Totals): string {
  const parts = Object.entries(amounts).map(([name, amount]) => `${name}=${formatQuantity(amount)}`);
  return parts.sort().join(",");
}
