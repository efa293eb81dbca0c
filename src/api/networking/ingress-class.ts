import { ageColumn, nameColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { domainPrefixedPathFaults, isUnset } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Label, checkDns1123Subdomain, checkPathSegmentName } from "../machinery/names/names.ts";
import type { IngressClass as IngressClassObject, IngressClassParametersReference } from "../types/networking-v1.ts";

const defaultClass = "ingressclass.kubernetes.io/is-default-class";

export const IngressClass = defineKind<IngressClassObject>("networking.k8s.io/v1", "IngressClass", {
  generation: "spec",
  defaults: ({ spec }) => {
    if (spec?.parameters !== undefined) spec.parameters.scope ??= "Cluster";
  },
  validate: ({ spec }, path) => [
    ...validateController(spec?.controller ?? "", path.child("spec", "controller")),
    ...validateParameters(spec?.parameters, path.child("spec", "parameters")),
  ],
  update: {
    validate: (next, old, path) =>
      next.spec?.controller === old.spec?.controller
        ? []
        : [immutable(path.child("spec", "controller"), next.spec?.controller ?? "")],
  },
  columns: [
    {
      ...nameColumn,
      cell: ({ metadata }) =>
        `${metadata.name ?? ""}${metadata.annotations?.[defaultClass] === "true" ? " (default)" : ""}`,
    },
    {
      name: "Controller",
      type: "string",
      doc: "columns.ingressClass.Controller",
      description: "The controller that serves Ingresses of this class.",
      cell: ({ spec }) => spec?.controller ?? "",
    },
    {
      name: "Parameters",
      type: "string",
      doc: "columns.ingressClass.Parameters",
      description: "Where the class has its parameters.",
      cell: ({ spec }) => parametersText(spec?.parameters),
    },
    ageColumn,
  ],
});

function parametersText(parameters: IngressClassParametersReference | undefined): string {
  if (parameters === undefined) return "<none>";
  const { apiGroup, kind, name } = parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}

function validateController(controller: string, path: FieldPath): readonly FieldError[] {
  if (controller.length > 250) return [tooLong(path, 250), ...domainPrefixedPathFaults(controller, path)];
  return domainPrefixedPathFaults(controller, path);
}

function validateParameters(
  parameters: IngressClassParametersReference | undefined,
  path: FieldPath,
): readonly FieldError[] {
  if (parameters === undefined) return [];
  const { apiGroup, kind, name, scope, namespace } = parameters;
  const errors: FieldError[] = [];
  if (!isUnset(apiGroup))
    for (const why of checkDns1123Subdomain(apiGroup)) errors.push(invalid(path.child("apiGroup"), apiGroup, why));
  if (kind === "") errors.push(required(path.child("kind")));
  else for (const why of checkPathSegmentName(kind)) errors.push(invalid(path.child("kind"), kind, why));
  if (name === "") errors.push(required(path.child("name")));
  else for (const why of checkPathSegmentName(name)) errors.push(invalid(path.child("name"), name, why));
  const where = path.child("namespace");
  if (scope === undefined) errors.push(required(path.child("scope")));
  else if (scope === "Namespace") {
    if (namespace === undefined) errors.push(required(where, "`parameters.scope` is set to 'Namespace'"));
    else for (const why of checkDns1123Label(namespace)) errors.push(invalid(where, namespace, why));
  } else if (scope === "Cluster") {
    if (namespace !== undefined) errors.push(forbidden(where, "`parameters.scope` is set to 'Cluster'"));
  } else {
    errors.push(notSupported(path.child("scope"), scope, ["Cluster", "Namespace"]));
  }
  return errors;
}
