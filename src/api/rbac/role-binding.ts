/** RoleBinding and ClusterRoleBinding. The roleRef is immutable. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import type { Column } from "../machinery/kind.ts";
import { checkDns1123Subdomain, checkPathSegmentName } from "../machinery/names/names.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type {
  ClusterRoleBinding as ClusterRoleBindingObject,
  RoleBinding as RoleBindingObject,
  RoleRef,
  Subject,
} from "../types/rbac-v1.ts";

const group = "rbac.authorization.k8s.io";

type AnyBinding = RoleBindingObject | ClusterRoleBindingObject;

export const RoleBinding = defineKind<RoleBindingObject>(`${group}/v1`, "RoleBinding", {
  defaults: defaultBinding,
  validateName: checkPathSegmentName,
  validate: (binding, path) => validateBinding(binding, ["Role", "ClusterRole"], path),
  update: { allowCreate: true, validate: roleRefChange },
  columns: bindingColumns("RoleBinding", "roleBinding"),
});

export const ClusterRoleBinding = defineKind<ClusterRoleBindingObject>(`${group}/v1`, "ClusterRoleBinding", {
  defaults: defaultBinding,
  validateName: checkPathSegmentName,
  validate: (binding, path) => validateBinding(binding, ["ClusterRole"], path),
  update: { allowCreate: true, validate: roleRefChange },
  columns: bindingColumns("ClusterRoleBinding", "clusterRoleBinding"),
});

function defaultBinding(draft: Draft<AnyBinding>): void {
  draft.roleRef.apiGroup ||= group;
  for (const subject of draft.subjects ?? []) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= group;
  }
}

function validateBinding(
  { roleRef, subjects }: AnyBinding,
  roleKinds: readonly string[],
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const ref = path.child("roleRef");
  if (roleRef.apiGroup !== group) errors.push(notSupported(ref.child("apiGroup"), roleRef.apiGroup ?? "", [group]));
  if (!roleKinds.includes(roleRef.kind)) errors.push(notSupported(ref.child("kind"), roleRef.kind, roleKinds));
  if (roleRef.name === "") errors.push(required(ref.child("name")));
  else for (const why of checkPathSegmentName(roleRef.name)) errors.push(invalid(ref.child("name"), roleRef.name, why));
  const needsNamespace = !roleKinds.includes("Role");
  for (const [i, subject] of (subjects ?? []).entries()) {
    errors.push(...validateSubject(subject, needsNamespace, path.child("subjects").index(i)));
  }
  return errors;
}

function validateSubject(subject: Subject, needsNamespace: boolean, path: FieldPath): readonly FieldError[] {
  const { kind, name, namespace = "", apiGroup = "" } = subject;
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(path.child("name")));
  switch (kind) {
    case "ServiceAccount":
      if (name !== "")
        for (const why of checkDns1123Subdomain(name)) errors.push(invalid(path.child("name"), name, why));
      if (apiGroup !== "") errors.push(notSupported(path.child("apiGroup"), apiGroup, [""]));
      if (needsNamespace && namespace === "") errors.push(required(path.child("namespace")));
      return errors;
    case "User":
    case "Group":
      return apiGroup === group ? errors : [...errors, notSupported(path.child("apiGroup"), apiGroup, [group])];
    default:
      return [...errors, notSupported(path.child("kind"), kind, ["ServiceAccount", "User", "Group"])];
  }
}

function roleRefChange({ roleRef }: AnyBinding, old: AnyBinding, path: FieldPath): readonly FieldError[] {
  const same = (a: RoleRef, b: RoleRef) => a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;
  if (same(roleRef, old.roleRef)) return [];
  const shown = { APIGroup: roleRef.apiGroup ?? "", Kind: roleRef.kind, Name: roleRef.name };
  return [invalid(path.child("roleRef"), shown, "cannot change roleRef")];
}

function bindingColumns(kind: string, where: string): readonly Column<AnyBinding>[] {
  const names = (subjects: AnyBinding["subjects"], wanted: string) =>
    (subjects ?? []).filter((one) => one.kind === wanted);
  const named = (wanted: string) => (binding: AnyBinding) =>
    names(binding.subjects, wanted)
      .map(({ name }) => name)
      .join(", ");
  return [
    {
      name: "Role",
      type: "string",
      doc: `io.k8s.api.rbac.v1beta1.${kind}.roleRef`,
      cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
    },
    ageColumn,
    { name: "Users", type: "string", priority: 1, description: `Users in the ${where}`, cell: named("User") },
    { name: "Groups", type: "string", priority: 1, description: `Groups in the ${where}`, cell: named("Group") },
    {
      name: "ServiceAccounts",
      type: "string",
      priority: 1,
      description: `ServiceAccounts in the ${where}`,
      cell: ({ subjects }) =>
        names(subjects, "ServiceAccount")
          .map(({ namespace, name }) => `${namespace ?? ""}/${name}`)
          .join(", "),
    },
  ];
}
