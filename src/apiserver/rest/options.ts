/**
 * The options of requests, read from their query (DeleteOptions also from a body). Messages are those of Kubernetes.
 */
import {
  badRequest,
  type FieldError,
  field,
  type Int64,
  invalidStatus,
  isInt64,
  isObject,
  type Json,
  validateManagerName,
} from "#api";
import { isTrue } from "../http/request-info.ts";

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
}

export interface PatchOptions extends WriteOptions {
  readonly force: boolean;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: Int64 | undefined;
  readonly propagationPolicy: "Orphan" | "Background" | "Foreground" | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  readonly ignoreStoreReadError: boolean;
}

/** The options of a request without a query. */
const DEFAULTS: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Warn" };

export function writeOptions(kind: "CreateOptions" | "UpdateOptions", query: URLSearchParams): WriteOptions {
  if (query.size === 0) return DEFAULTS;
  check(kind, writeErrors(query));
  return readWrite(query);
}

export function patchOptions(query: URLSearchParams, isApply: boolean): PatchOptions {
  const { forbidden, required } = field;
  const errors = [...writeErrors(query)];
  const force = query.get("force");
  if (isApply && (query.get("fieldManager") ?? "") === "") {
    errors.push(required("fieldManager", "is required for apply patch"));
  }
  if (!isApply && force !== null) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  check("PatchOptions", errors);
  return { ...readWrite(query), force: isTrue(force) };
}

export function deleteOptions(query: URLSearchParams, body: Json | undefined): DeleteOptions {
  const given = isObject(body) ? body : {};
  const grace = given.gracePeriodSeconds ?? wholeNumber(query.get("gracePeriodSeconds"));
  const orphan =
    given.orphanDependents ?? (query.has("orphanDependents") ? isTrue(query.get("orphanDependents")) : undefined);
  const policy = given.propagationPolicy ?? query.get("propagationPolicy") ?? undefined;
  const dryRun = Array.isArray(given.dryRun) ? given.dryRun : query.getAll("dryRun").filter((value) => value !== "");
  const errors = [...dryRunErrors(dryRun)];
  if (policy !== undefined && !["Foreground", "Background", "Orphan"].includes(String(policy))) {
    errors.push(field.notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]));
  }
  if (policy !== undefined && orphan !== undefined) {
    errors.push(
      field.invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"),
    );
  }
  check("DeleteOptions", errors);
  const preconditions = isObject(given.preconditions) ? given.preconditions : {};
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: isInt64(grace) ? grace : undefined,
    propagationPolicy:
      (policy as DeleteOptions["propagationPolicy"]) ??
      (orphan === undefined ? undefined : orphan === true ? "Orphan" : "Background"),
    preconditions: {
      ...(typeof preconditions.uid === "string" && { uid: preconditions.uid }),
      ...(typeof preconditions.resourceVersion === "string" && { resourceVersion: preconditions.resourceVersion }),
    },
    ignoreStoreReadError: given.ignoreStoreReadErrorWithClusterBreakingPotential === true,
  };
}

/** A number as Go's ParseInt reads it; absent or empty: undefined. */
export function wholeNumber(value: string | null): number | undefined {
  if (value === null || value === "") return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}

function readWrite(query: URLSearchParams): WriteOptions {
  const validation = query.get("fieldValidation");
  return {
    dryRun: query.getAll("dryRun").some((value) => value !== ""),
    fieldManager: query.get("fieldManager") ?? "",
    fieldValidation: validation === "Strict" || validation === "Ignore" ? validation : "Warn",
  };
}

function writeErrors(query: URLSearchParams): FieldError[] {
  const errors = [...dryRunErrors(query.getAll("dryRun").filter((value) => value !== ""))];
  errors.push(...validateManagerName(query.get("fieldManager") ?? "", "fieldManager"));
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Strict", "Warn"].includes(validation)) {
    errors.push(field.notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  }
  return errors;
}

function dryRunErrors(values: readonly Json[]): FieldError[] {
  return values.every((value) => value === "All") ? [] : [field.notSupported("dryRun", [...values], ["All"])];
}

function check(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidStatus({ group: "meta.k8s.io", kind }, "", errors);
}
