/** anyOf, oneOf, allOf and not. */
import { goQuote } from "../../machinery/json/go-text.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { Check, Report } from "./check.ts";

export interface Combinations {
  readonly anyOf: readonly Check[];
  readonly oneOf: readonly Check[];
  readonly allOf: readonly Check[];
  readonly not: Check | undefined;
}

export function combinationsCheck(combinations: Combinations): Check | undefined {
  const { anyOf, oneOf, allOf, not } = combinations;
  if (anyOf.length === 0 && oneOf.length === 0 && allOf.length === 0 && not === undefined) return undefined;
  return (value, report) => {
    if (report !== undefined) return reportAll(value, report, combinations);
    if (anyOf.length > 0 && !anyOf.some((check) => check(value, undefined))) return false;
    if (oneOf.length > 0 && !fitsOne(value, oneOf)) return false;
    for (const check of allOf) if (!check(value, undefined)) return false;
    return !not?.(value, undefined);
  };
}

function fitsOne(value: Json, checks: readonly Check[]): boolean {
  let fitting = 0;
  for (const check of checks) if (check(value, undefined) && ++fitting > 1) return false;
  return fitting === 1;
}

function reportAll(value: Json, report: Report, { anyOf, oneOf, allOf, not }: Combinations): boolean {
  const known = report.faults.length;
  const path = goQuote(report.path);
  if (anyOf.length > 0) {
    const { first, best } = tryEach(value, report, anyOf, true);
    if (first === undefined) report.overall(`${path} must validate at least one schema (anyOf)`);
    merge(report, first ?? best);
  }
  if (oneOf.length > 0) {
    const { first, best, fitting } = tryEach(value, report, oneOf, false);
    if (fitting === 1) merge(report, first);
    else {
      const found = fitting === 0 ? "Found none valid" : `Found ${fitting} valid alternatives`;
      report.overall(`${path} must validate one and only one schema (oneOf). ${found}`);
      if (fitting === 0) merge(report, best);
    }
  }
  if (allOf.length > 0) {
    const branches = allOf.map((check) => tried(value, report, check));
    for (const branch of branches) report.merge(branch);
    const fitting = branches.filter(({ faults }) => faults.length === 0).length;
    if (fitting < allOf.length)
      report.overall(`${path} must validate all the schemas (allOf)${fitting === 0 ? ". None validated" : ""}`);
  }
  if (not !== undefined && tried(value, report, not).faults.length === 0)
    report.overall(`${path} must not validate the schema (not)`);
  return report.faults.length === known;
}

interface Tried {
  readonly first: Report | undefined;
  /** Of those that fail, the first with the most matches. */
  readonly best: Report | undefined;
  readonly fitting: number;
}

function tryEach(value: Json, report: Report, checks: readonly Check[], stopAtFirst: boolean): Tried {
  let first: Report | undefined;
  let best: Report | undefined;
  let fitting = 0;
  for (const check of checks) {
    const branch = tried(value, report, check);
    if (branch.faults.length === 0) {
      first ??= branch;
      fitting++;
      if (stopAtFirst) break;
    } else if (best === undefined || branch.matches > best.matches) best = branch;
  }
  return { first, best, fitting };
}

function tried(value: Json, report: Report, check: Check): Report {
  const branch = report.branch();
  check(value, branch);
  return branch;
}

function merge(report: Report, branch: Report | undefined): void {
  if (branch !== undefined) report.merge(branch);
}
