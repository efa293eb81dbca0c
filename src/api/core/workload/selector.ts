/** The selector of a workload, and whether its template matches it. */

import { jsonOf } from "../../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, required } from "../../machinery/errors/field-error.ts";
import { sentEmpty } from "../../machinery/json/sent-empty.ts";
import {
  type LabelMatcher,
  type LabelSelector,
  LabelSelectorError,
  matcherOfSelector,
  validateLabelSelector,
} from "../../machinery/names/labels.ts";
import type { PodTemplateSpec } from "../../types/core-v1.ts";

export interface CheckedSelector {
  readonly errors: readonly FieldError[];
  /** Absent where the selector is invalid: rules that depend on it are skipped. */
  readonly matcher?: LabelMatcher;
}

export interface SelectorWords {
  readonly empty: string;
  /** The message for an invalid selector; absent where it is not reported. */
  readonly unreadable?: string;
}

export function checkSelector(
  selector: LabelSelector | null | undefined,
  at: FieldPath,
  words: SelectorWords,
): CheckedSelector {
  const errors: FieldError[] = [];
  if (selector === undefined || selector === null) errors.push(required(at));
  else {
    errors.push(...validateLabelSelector(selector, at));
    if (isEmptySelector(selector)) errors.push(invalid(at, jsonOf(selector), words.empty));
  }
  const matcher = readSelector(selector);
  if (matcher !== undefined) return { errors, matcher };
  if (words.unreadable !== undefined) errors.push(invalid(at, jsonOf(selector), words.unreadable));
  return { errors };
}

export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length === 0;
}

/** Undefined for an invalid selector. */
export function readSelector(selector: LabelSelector | null | undefined): LabelMatcher | undefined {
  try {
    return matcherOfSelector(selector ?? undefined);
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined;
    throw error;
  }
}

/** A selector that selects everything is reported elsewhere. */
export function checkTemplateMatches(
  template: PodTemplateSpec | undefined,
  matcher: LabelMatcher,
  at: FieldPath,
): readonly FieldError[] {
  const labels = template?.metadata?.labels;
  const selectsAll = matcher.requirements.length === 0 && !matcher.nothing;
  if (selectsAll || matcher.matches(labels)) return [];
  const shown = labels ?? sentEmpty(template?.metadata, "labels") ?? null;
  return [invalid(at.child("metadata", "labels"), shown, "`selector` does not match template `labels`")];
}
