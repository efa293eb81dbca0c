/** ResourcePoolStatusRequest: asks once how much of a driver's pools is in use. A request with a status is done. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { same, unchangedField } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, immutable, invalid, required } from "../machinery/errors/field-error.ts";
import type { Int64, Json } from "../machinery/json/json.ts";
import { validateConditions } from "../policy/index.ts";
import type {
  PoolStatus,
  ResourcePoolStatusRequest as RequestObject,
  ResourcePoolStatusRequestSpec,
} from "../types/resource-v1alpha3.ts";
import { driverNameFaults, poolNameFaults } from "./names.ts";

const mostPools = 1000;

export const ResourcePoolStatusRequest = defineKind<RequestObject>(
  "resource.k8s.io/v1alpha3",
  "ResourcePoolStatusRequest",
  {
    create: { validate: ({ spec }, at) => validateSpec(spec, at.child("spec")) },
    update: {
      validate: (next, old, at) => unchangedField("resource.v1alpha3.ResourcePoolStatusRequest", "spec", next, old, at),
    },
    subresources: { status: { keeps: "nothing", validate: validateStatus } },
    columns: [ageColumn],
  },
);

function validateSpec(
  { driver = "", poolName, limit }: ResourcePoolStatusRequestSpec,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...(driver === "" ? [required(at.child("driver"))] : driverNameFaults(driver, at.child("driver"))),
    ...(poolName === undefined ? [] : poolNameFaults(poolName, at.child("poolName"))),
    ...atLeast(limit, 1, at.child("limit")),
    ...(limit !== undefined && limit > mostPools
      ? [invalid(at.child("limit"), limit, `must be less than or equal to ${mostPools}`)]
      : []),
  ];
}

function validateStatus({ status }: RequestObject, old: RequestObject, path: FieldPath): readonly FieldError[] {
  const at = path.child("status");
  if (old.status !== undefined) return same(status, old.status) ? [] : [immutable(at, (status ?? null) as Json)];
  if (status === undefined) return [];
  const { poolCount, pools = [], conditions = [] } = status;
  return [
    ...pools.flatMap((pool, i) => validatePool(pool, at.child("pools").index(i))),
    ...validateConditions(conditions, at.child("conditions")),
    ...(poolCount === undefined ? [required(at.child("poolCount"))] : atLeast(poolCount, 0, at.child("poolCount"))),
  ];
}

const COUNTS = ["totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"] as const;

function validatePool(pool: PoolStatus, at: FieldPath): readonly FieldError[] {
  const { driver = "", poolName = "" } = pool;
  return [
    ...(driver === "" ? [required(at.child("driver"))] : driverNameFaults(driver, at.child("driver"))),
    ...(poolName === "" ? [required(at.child("poolName"))] : poolNameFaults(poolName, at.child("poolName"))),
    ...atLeast(pool.generation, 0, at.child("generation")),
    ...atLeast(pool.resourceSliceCount, 1, at.child("resourceSliceCount")),
    ...COUNTS.flatMap((name) => atLeast(pool[name], 0, at.child(name))),
  ];
}

function atLeast(value: Int64 | undefined, least: number, at: FieldPath): readonly FieldError[] {
  return value === undefined || value >= least ? [] : [invalid(at, value, `must be greater than or equal to ${least}`)];
}
