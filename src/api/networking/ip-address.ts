import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, immutable, invalid, required } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { formatIp, parseIp } from "../machinery/names/ip.ts";
import { checkDns1123Subdomain, checkPathSegmentName } from "../machinery/names/names.ts";
import type { IPAddress as IPAddressObject, ParentReference } from "../types/networking-v1.ts";

/** IPAddress: an address that is in use; the object's name is the address. */
export const IPAddress = defineKind<IPAddressObject>("networking.k8s.io/v1", "IPAddress", {
  validateName: (name) => {
    const ip = parseIp(name);
    if (ip === undefined) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
    const canonical = formatIp(ip);
    return canonical === name ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
  },
  validate: ({ spec }, path) => validateParent(spec.parentRef, path.child("spec", "parentRef")),
  update: {
    validate: ({ spec }, old, path) =>
      equalJson(shape(spec), shape(old.spec)) ? [] : [immutable(path.child("spec", "parentRef"), shape(spec))],
  },
  columns: [
    {
      name: "ParentRef",
      type: "string",
      doc: "io.k8s.api.networking.v1.IPAddressSpec.parentRef",
      cell: ({ spec }) => parentText(spec.parentRef),
    },
  ],
});

function shape({ parentRef }: IPAddressObject["spec"]): Json {
  if ((parentRef as ParentReference | undefined) === undefined) return null;
  const { group = "", resource, namespace = "", name } = parentRef;
  return { Group: group, Resource: resource, Namespace: namespace, Name: name };
}

function parentText(parent: ParentReference | undefined): string {
  if (parent === undefined) return "";
  const { group, resource, namespace, name } = parent;
  return [group ? `${resource}.${group}` : resource, ...(namespace ? [namespace] : []), name].join("/");
}

function validateParent(parent: ParentReference | undefined, path: FieldPath): readonly FieldError[] {
  if (parent === undefined) return [required(path)];
  const { group = "", resource = "", namespace = "", name = "" } = parent;
  const errors: FieldError[] = [];
  if (group !== "")
    for (const why of checkDns1123Subdomain(group)) errors.push(invalid(path.child("group"), group, why));
  if (resource === "") errors.push(required(path.child("resource")));
  else for (const why of checkPathSegmentName(resource)) errors.push(invalid(path.child("resource"), resource, why));
  if (name === "") errors.push(required(path.child("name")));
  else for (const why of checkPathSegmentName(name)) errors.push(invalid(path.child("name"), name, why));
  if (namespace !== "")
    for (const why of checkPathSegmentName(namespace)) errors.push(invalid(path.child("namespace"), namespace, why));
  return errors;
}
