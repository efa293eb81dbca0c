/** Validation of CSIDriver and CSINode. */
import { csiDriverNameFaults } from "../core/index.ts";
import { same } from "../definition/field-checks.ts";
import { internalForm } from "../facts/index.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { checkQualifiedName } from "../machinery/names/names.ts";
import type { CSIDriver, CSIDriverSpec, CSINode, CSINodeDriver } from "../types/storage-v1.ts";

const minUpdatePeriodSeconds = 10;

export function validateCsiDriver({ spec }: CSIDriver, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [];
  for (const field of ["attachRequired", "podInfoOnMount", "storageCapacity"] as const) {
    if (spec[field] === undefined) errors.push(required(where.child(field)));
  }
  const policies = ["File", "None", "ReadWriteOnceWithFSType"];
  if (spec.fsGroupPolicy !== undefined && !policies.includes(spec.fsGroupPolicy)) {
    errors.push(notSupported(where.child("fsGroupPolicy"), spec.fsGroupPolicy, policies));
  }
  const audiences = new Set<string>();
  for (const [i, { audience, expirationSeconds: seconds }] of (spec.tokenRequests ?? []).entries()) {
    const at = where.child("tokenRequests").index(i);
    if (audiences.has(audience)) {
      errors.push(duplicate(at.child("audience"), audience));
      continue;
    }
    audiences.add(audience);
    if (seconds === undefined) continue;
    if (seconds < 600)
      errors.push(invalid(at.child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes"));
    if (seconds > 2 ** 32)
      errors.push(
        invalid(at.child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds"),
      );
  }
  const modes = ["Persistent", "Ephemeral"];
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!modes.includes(mode)) errors.push(notSupported(where.child("volumeLifecycleModes"), mode, modes));
  }
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  if (period !== undefined && period < minUpdatePeriodSeconds) {
    const why = `must be greater than or equal to ${minUpdatePeriodSeconds} seconds`;
    errors.push(invalid(where.child("nodeAllocatableUpdatePeriodSeconds"), period, why));
  }
  if (inSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    errors.push(invalid(where.child("serviceAccountTokenInSecrets"), inSecrets, why));
  }
  return errors;
}

export function validateCsiDriverUpdate(next: CSIDriver, old: CSIDriver, path: FieldPath): readonly FieldError[] {
  const fixed = ["attachRequired", "volumeLifecycleModes"] as const;
  return fixed.flatMap((field: keyof CSIDriverSpec) => {
    const [before, after] = [(old.spec[field] ?? null) as Json, (next.spec[field] ?? null) as Json];
    return equalJson(before, after)
      ? []
      : [immutable(path.child("spec", field === "attachRequired" ? "attachedRequired" : field), after)];
  });
}

export function validateCsiNode({ spec }: CSINode, path: FieldPath): readonly FieldError[] {
  const names = new Set<string>();
  return (spec.drivers ?? []).flatMap((driver, i) => {
    const where = path.child("spec", "drivers").index(i);
    const errors: FieldError[] = [...csiDriverNameFaults(driver.name, where.child("name"))];
    if (driver.nodeID === "") errors.push(required(where.child("nodeID")));
    else if (driver.nodeID.length > 256)
      errors.push(invalid(where.child("nodeID"), driver.nodeID, "must be 256 characters or less"));
    const count = driver.allocatable?.count;
    if (count !== undefined && count < 0)
      errors.push(invalid(where.child("allocatable", "count"), count, "must be greater than or equal to 0"));
    errors.push(...topologyFaults(driver.topologyKeys ?? [], where));
    if (names.has(driver.name)) errors.push(duplicate(where.child("name"), driver.name));
    names.add(driver.name);
    return errors;
  });
}

/** A driver is added or removed as a whole. */
export function validateCsiNodeUpdate(next: CSINode, old: CSINode, path: FieldPath): readonly FieldError[] {
  const drivers = (next.spec.drivers ?? []).map(fixedPart);
  return (old.spec.drivers ?? [])
    .map(fixedPart)
    .flatMap((before) =>
      drivers
        .filter((driver) => driver.name === before.name && !same(driver, before))
        .map((driver) => immutable(path.child("spec", "drivers"), internalForm("storage.v1.CSINodeDriver", driver))),
    );
}

/** How many volumes it can have may change. */
function fixedPart({ allocatable: _, ...driver }: CSINodeDriver): CSINodeDriver {
  return driver;
}

/** Kubernetes names the driver, not the field. */
function topologyFaults(keys: readonly string[], path: FieldPath): readonly FieldError[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => {
    const errors: FieldError[] = key === "" ? [required(path)] : [];
    if (seen.has(key)) errors.push(duplicate(path, key));
    seen.add(key);
    return [...errors, ...checkQualifiedName(key).map((why) => invalid(path, key, why))];
  });
}
