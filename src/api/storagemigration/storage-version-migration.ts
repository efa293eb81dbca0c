/** StorageVersionMigration: write all objects of a resource again. Its conditions end in Succeeded or Failed. */
import { defineKind } from "../definition/define-kind.ts";
import { nonNegative } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { Json } from "../machinery/json/json.ts";
import { validateConditions } from "../policy/index.ts";
import type { Condition } from "../types/meta-v1.ts";
import type { StorageVersionMigration as MigrationObject } from "../types/storagemigration-v1beta1.ts";

export const StorageVersionMigration = defineKind<MigrationObject>(
  "storagemigration.k8s.io/v1beta1",
  "StorageVersionMigration",
  {
    validate: ({ spec }, at) =>
      spec?.resource?.resource ? [] : [required(at.child("spec", "resource", "resource"), "resource is required")],
    update: { validate: unchangedResource },
    subresources: { status: { keeps: "nothing", validate: validateStatus } },
    columns: [
      {
        name: "Resource",
        type: "string",
        description: "The resource that is migrated.",
        cell: ({ spec }) => {
          const { group, resource } = spec?.resource ?? { group: "", resource: "" };
          return group ? `${resource}.${group}` : resource;
        },
      },
    ],
  },
);

/** The paths of Kubernetes lack `spec.resource`. */
function unchangedResource(next: MigrationObject, old: MigrationObject, at: FieldPath): readonly FieldError[] {
  return (["group", "resource"] as const).flatMap((name) => {
    const [value, before] = [next.spec?.resource?.[name] ?? "", old.spec?.resource?.[name] ?? ""];
    return value === before ? [] : [invalid(at.child(name), value, "field is immutable")];
  });
}

function validateStatus(next: MigrationObject, old: MigrationObject, path: FieldPath): readonly FieldError[] {
  const at = path.child("status");
  const { conditions = [], resourceVersion = "" } = next.status ?? {};
  const before = old.status ?? {};
  const versionAt = at.child("resourceVersion");
  const wrong = (why: string) => invalid(at.child("conditions"), conditions as unknown as Json, why);
  const is = (type: string) => isTrue(conditions, type);
  const was = (type: string) => isTrue(before.conditions ?? [], type);
  return [
    ...versionFaults(resourceVersion, versionAt),
    ...validateConditions(conditions, at.child("conditions")),
    ...(before.resourceVersion && before.resourceVersion !== resourceVersion
      ? [invalid(versionAt, resourceVersion, "field is immutable")]
      : []),
    ...(is("Succeeded") && is("Failed")
      ? [wrong("Both success and failed conditions cannot be true at the same time")]
      : []),
    ...(is("Succeeded") && is("Running")
      ? [wrong("Running condition cannot be true when success condition is true")]
      : []),
    ...(is("Failed") && is("Running") ? [wrong("Running condition cannot be true when failed condition is true")] : []),
    ...(was("Succeeded") && !is("Succeeded")
      ? [wrong("Success condition cannot be set to false once it is true")]
      : []),
    ...(was("Failed") && !is("Failed") ? [wrong("Failed condition cannot be set to false once it is true")] : []),
  ];
}

const MOST = 2n ** 63n - 1n;

function versionFaults(text: string, at: FieldPath): readonly FieldError[] {
  if (text === "") return [];
  const failed = `failed to parse resource version ${goQuote(text)}: strconv.ParseInt: parsing ${goQuote(text)}`;
  if (!/^[+-]?\d+$/.test(text)) return [invalid(at, text, `${failed}: invalid syntax`)];
  const value = BigInt(text.replace("+", ""));
  if (value > MOST || value < -MOST - 1n) return [invalid(at, text, `${failed}: value out of range`)];
  return nonNegative(value, at);
}

function isTrue(conditions: readonly Condition[], wanted: string): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === "True");
}
