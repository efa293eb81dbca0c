import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Column } from "../machinery/kind.ts";
import type {
  MutatingAdmissionPolicy as MutatingObject,
  ParamKind,
  ValidatingAdmissionPolicy as ValidatingObject,
} from "../types/admissionregistration-v1.ts";
import { defaultMatch } from "./defaults.ts";
import { validateMutatingPolicy, validateValidatingPolicy } from "./policy-validation.ts";

const group = "admissionregistration.k8s.io/v1";

export const ValidatingAdmissionPolicy = defineKind<ValidatingObject>(group, "ValidatingAdmissionPolicy", {
  generation: "spec",
  update: { allowUnconditional: false },
  defaults: ({ spec }) => {
    if (spec === undefined) return;
    spec.failurePolicy ??= "Fail";
    defaultMatch(spec.matchConstraints);
  },
  validate: validateValidatingPolicy,
  subresources: { status: { keeps: "nothing" } },
  columns: [
    {
      name: "Validations",
      type: "integer",
      description: "How many validations it has.",
      cell: ({ spec }) => (spec?.validations ?? []).length,
    },
    paramKindColumn((policy: ValidatingObject) => policy.spec?.paramKind),
    ageColumn,
  ],
});

export const MutatingAdmissionPolicy = defineKind<MutatingObject>(group, "MutatingAdmissionPolicy", {
  generation: "spec",
  update: { allowUnconditional: false },
  defaults: ({ spec }) => {
    if (spec === undefined) return;
    spec.failurePolicy ??= "Fail";
    defaultMatch(spec.matchConstraints);
  },
  validate: validateMutatingPolicy,
  columns: [
    {
      name: "Mutations",
      type: "integer",
      description: "How many mutations it has.",
      cell: ({ spec }) => (spec?.mutations ?? []).length,
    },
    paramKindColumn((policy: MutatingObject) => policy.spec?.paramKind),
    ageColumn,
  ],
});

function paramKindColumn<T>(read: (policy: T) => ParamKind | undefined): Column<T> {
  return {
    name: "ParamKind",
    type: "string",
    description: "The kind of its parameters.",
    cell: (policy) => {
      const kind = read(policy);
      return kind === undefined ? "<unset>" : `${kind.apiVersion ?? ""}/${kind.kind ?? ""}`;
    },
  };
}
