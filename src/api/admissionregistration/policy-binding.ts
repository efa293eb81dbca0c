import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Column } from "../machinery/kind.ts";
import { matcherOfSelector } from "../machinery/names/labels.ts";
import type {
  MutatingAdmissionPolicyBinding as MutatingObject,
  ParamRef,
  ValidatingAdmissionPolicyBinding as ValidatingObject,
} from "../types/admissionregistration-v1.ts";
import { defaultMatch } from "./defaults.ts";
import { validateBinding } from "./policy-validation.ts";

const group = "admissionregistration.k8s.io/v1";

export const ValidatingAdmissionPolicyBinding = defineKind<ValidatingObject>(
  group,
  "ValidatingAdmissionPolicyBinding",
  {
    generation: "spec",
    update: { allowUnconditional: false },
    defaults: ({ spec }) => defaultMatch(spec.matchResources),
    validate: ({ spec }, path) => validateBinding(spec, spec.validationActions ?? [], path.child("spec")),
    columns: bindingColumns(),
  },
);

export const MutatingAdmissionPolicyBinding = defineKind<MutatingObject>(group, "MutatingAdmissionPolicyBinding", {
  generation: "spec",
  update: { allowUnconditional: false },
  defaults: ({ spec }) => defaultMatch(spec?.matchResources),
  validate: ({ spec }, path) => validateBinding(spec ?? {}, undefined, path.child("spec")),
  columns: bindingColumns(),
});

function bindingColumns(): readonly Column<ValidatingObject | MutatingObject>[] {
  return [
    {
      name: "PolicyName",
      type: "string",
      description: "The policy that is bound.",
      cell: ({ spec }) => spec?.policyName ?? "",
    },
    {
      name: "ParamRef",
      type: "string",
      description: "Where its parameters are.",
      cell: ({ spec }) => paramText(spec?.paramRef),
    },
    ageColumn,
  ];
}

function paramText(ref: ParamRef | undefined): string {
  if (ref === undefined) return "<unset>";
  if (ref.name) return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
  return ref.selector === undefined ? "<unset>" : matcherOfSelector(ref.selector).toString();
}
