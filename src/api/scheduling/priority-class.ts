/** PriorityClass: a name for the priority of pods. */

import { table } from "#base";
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { unchanged } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, forbidden, notSupported, required } from "../machinery/errors/field-error.ts";
import type { PriorityClass as PriorityClassObject } from "../types/scheduling-v1.ts";

const type = "io.k8s.api.scheduling.v1.PriorityClass";

/** Higher values are reserved for system classes. */
export const highestUserPriority = 1_000_000_000;
export const systemPriorities: Readonly<Record<string, number>> = table({
  "system-cluster-critical": 2 * highestUserPriority,
  "system-node-critical": 2 * highestUserPriority + 1000,
});
const systemPrefix = "system-";

export const PriorityClass = defineKind<PriorityClassObject>("scheduling.k8s.io/v1", "PriorityClass", {
  defaults(draft) {
    draft.preemptionPolicy ??= "PreemptLowerPriority";
  },
  create: { validate },
  update: {
    validate: ({ value = 0, preemptionPolicy }, old, at) => [
      ...(value === (old.value ?? 0) ? [] : [forbidden(at.child("value"), "may not be changed in an update.")]),
      ...unchanged(preemptionPolicy, old.preemptionPolicy, at.child("preemptionPolicy")),
    ],
  },
  delete: {
    forbids: ({ metadata }) =>
      Object.hasOwn(systemPriorities, metadata.name ?? "")
        ? "this is a system priority class and cannot be deleted"
        : undefined,
  },
  // The generation starts at 1 and stays there: the spec is immutable.
  generation: { changed: () => false },
  columns: [
    { name: "Value", type: "integer", doc: `${type}.value`, cell: ({ value }) => value ?? 0 },
    {
      name: "Global-Default",
      type: "boolean",
      doc: `${type}.globalDefault`,
      cell: ({ globalDefault }) => globalDefault ?? false,
    },
    ageColumn,
    {
      name: "PreemptionPolicy",
      type: "string",
      doc: `${type}.preemptionPolicy`,
      cell: ({ preemptionPolicy }) => preemptionPolicy ?? "",
    },
  ],
});

function validate(priority: PriorityClassObject, at: FieldPath): readonly FieldError[] {
  const { value = 0, preemptionPolicy, metadata } = priority;
  const errors: FieldError[] = [];
  if (metadata.name?.startsWith(systemPrefix))
    errors.push(...validateSystemClass(priority, metadata.name, at.child("metadata", "name")));
  else if (value > highestUserPriority) {
    errors.push(
      forbidden(at.child("value"), `maximum allowed value of a user defined priority is ${highestUserPriority}`),
    );
  }
  return [...errors, ...validatePreemptionPolicy(preemptionPolicy, at.child("preemptionPolicy"))];
}

function validateSystemClass(
  { value = 0, globalDefault = false }: PriorityClassObject,
  name: string,
  at: FieldPath,
): readonly FieldError[] {
  const refuse = (why: string) => [
    forbidden(at, `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${why}`),
  ];
  const wanted = Object.hasOwn(systemPriorities, name) ? systemPriorities[name] : undefined;
  if (wanted === undefined) return refuse(`${name} is not a known system priority class`);
  if (value !== wanted) return refuse(`value of ${name} PriorityClass must be ${wanted}`);
  return globalDefault ? refuse(`globalDefault of ${name} PriorityClass must be false`) : [];
}

function validatePreemptionPolicy(policy: string | undefined, at: FieldPath): readonly FieldError[] {
  const known = ["PreemptLowerPriority", "Never"];
  if (policy === undefined || known.includes(policy)) return [];
  return [policy === "" ? required(at) : notSupported(at, policy, known)];
}
