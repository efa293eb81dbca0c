/** Whether the bounds of a LimitRange are consistent. */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from "../../machinery/errors/field-error.ts";
import { ownValue } from "../../machinery/json/own-key.ts";
import { checkQualifiedName } from "../../machinery/names/names.ts";
import { compareQuantities, parseQuantity, quantityOf, scaledValue } from "../../machinery/scalars/quantity.ts";
import type { LimitRange, LimitRangeItem } from "../../types/core-v1.ts";
import { containerResourceNameFaults, resourceNameFaults } from "./standard-resources.ts";

const types = ["Pod", "Container", "PersistentVolumeClaim"];

export function validateLimitRange({ spec }: LimitRange, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, item] of (spec?.limits ?? []).entries()) {
    const where = path.child("spec", "limits").index(i);
    errors.push(...typeFaults(item.type, where.child("type")));
    if (seen.has(item.type)) errors.push(duplicate(where.child("type"), item.type));
    seen.add(item.type);
    errors.push(...nameFaults(item, where));
    for (const name of namesOf(item)) errors.push(...boundFaults(item, name, where));
  }
  return errors;
}

function typeFaults(type: string, where: FieldPath): readonly FieldError[] {
  const errors = checkQualifiedName(type).map((why) => invalid(where, type, why));
  if (errors.length === 0 && !type.includes("/") && !types.includes(type)) {
    errors.push(invalid(where, type, "must be a standard limit type or fully qualified"));
  }
  return errors;
}

function nameFaults(item: LimitRangeItem, where: FieldPath): readonly FieldError[] {
  const check = item.type === "Pod" || item.type === "Container" ? containerResourceNameFaults : resourceNameFaults;
  const names = (field: Bounds) =>
    Object.keys(item[field] ?? {}).flatMap((name) => check(name, where.child(field).key(name)));
  const errors = [...names("max"), ...names("min")];
  for (const field of ["default", "defaultRequest"] as const) {
    if (item.type !== "Pod") errors.push(...names(field));
    else if (Object.keys(item[field] ?? {}).length > 0) {
      errors.push(forbidden(where.child(field), "may not be specified when `type` is 'Pod'"));
    }
  }
  if (item.type === "PersistentVolumeClaim" && item.min?.storage === undefined && item.max?.storage === undefined) {
    const why = "either minimum or maximum storage value is required, but neither was provided";
    errors.push(required(where.child("limits"), why));
  }
  return [...errors, ...names("maxLimitRequestRatio")];
}

type Bounds = "max" | "min" | "default" | "defaultRequest" | "maxLimitRequestRatio";

function namesOf(item: LimitRangeItem): ReadonlySet<string> {
  const lists = [
    item.max,
    item.min,
    ...(item.type === "Pod" ? [] : [item.default, item.defaultRequest]),
    item.maxLimitRequestRatio,
  ];
  return new Set(lists.flatMap((list) => Object.keys(list ?? {})));
}

function boundFaults(item: LimitRangeItem, name: string, where: FieldPath): readonly FieldError[] {
  const bound = (field: Bounds) => ownValue(item[field], name);
  const [min, max, ratio] = [bound("min"), bound("max"), bound("maxLimitRequestRatio")];
  const isPod = item.type === "Pod";
  const limit = isPod ? undefined : bound("default");
  const request = isPod ? undefined : bound("defaultRequest");
  const errors: FieldError[] = [];
  /** `value` is the value that Kubernetes reports, which is not always that of the named field. */
  const atMost = (
    low: string | undefined,
    high: string | undefined,
    field: Bounds,
    value: string | undefined,
    words: string,
  ) => {
    if (low === undefined || high === undefined || value === undefined) return;
    if (compareQuantities(parseQuantity(low), parseQuantity(high)) <= 0) return;
    const [lowWords, highWords] = words.split(" < ");
    errors.push(
      invalid(
        where.child(field).key(name),
        value,
        `${lowWords} value ${low} is greater than ${highWords} value ${high}`,
      ),
    );
  };
  atMost(min, max, "min", min, "min < max");
  atMost(min, request, "defaultRequest", request, "min < default request");
  atMost(request, max, "defaultRequest", request, "default request < max");
  atMost(request, limit, "defaultRequest", request, "default request < default limit");
  atMost(min, limit, "default", min, "min < default");
  atMost(limit, max, "default", max, "default < max");
  return ratio === undefined
    ? errors
    : [...errors, ...ratioFaults(ratio, min, max, where.child("maxLimitRequestRatio").key(name))];
}

function ratioFaults(
  ratio: string,
  min: string | undefined,
  max: string | undefined,
  where: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const value = parseQuantity(ratio);
  if (compareQuantities(value, quantityOf(1)) < 0) errors.push(invalid(where, ratio, `ratio ${ratio} is less than 1`));
  if (min === undefined || max === undefined) return errors;
  const milli = (text: string) => Number(scaledValue(parseQuantity(text), -3));
  const most = milli(max) / milli(min);
  if (milli(ratio) / 1000 > most)
    errors.push(invalid(where, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`));
  return errors;
}
