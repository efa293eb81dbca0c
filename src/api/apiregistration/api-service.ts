import { ageColumn } from "../columns.ts";
import { defineKind } from "../define-kind.ts";
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../machinery/field-error.ts";
import { checkDns1035Label, checkDns1123Subdomain, checkPathSegmentName, checkPortNumber } from "../machinery/names.ts";
import type { APIService as APIServiceObject } from "../types/apiregistration-v1.ts";

/** Who serves a version of an API group: this server, or a service in the cluster. */
export const APIService = defineKind<APIServiceObject>("apiregistration.k8s.io/v1", "APIService", {
  validateName: checkPathSegmentName,
  defaults: ({ spec }) => {
    if (spec?.service !== undefined) spec.service.port ??= 443;
  },
  validate: validateApiService,
  update: { allowUnconditional: false },
  subresources: { status: { keeps: "nothing" } },
  columns: [
    {
      name: "Service",
      type: "string",
      description: "The Service that serves this API, or Local.",
      cell: ({ spec }) =>
        spec?.service === undefined ? "Local" : `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}`,
    },
    { name: "Available", type: "string", description: "Whether its server answers.", cell: availability },
    ageColumn,
  ],
});

function availability({ status }: APIServiceObject): string {
  const condition = status?.conditions?.find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  return condition.status === "True" ? "True" : `${condition.status} (${condition.reason ?? ""})`;
}

function validateApiService({ metadata, spec }: APIServiceObject, path: FieldPath): readonly FieldError[] {
  const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0, service, caBundle } = spec ?? {};
  const where = path.child("spec");
  const errors: FieldError[] = [];
  const expected = `${version}.${group}`;
  if (metadata.name !== expected) {
    errors.push(
      invalid(
        path.child("metadata", "name"),
        metadata.name ?? "",
        `must be \`spec.version+"."+spec.group\`: "${expected}"`,
      ),
    );
  }
  if (group !== "")
    for (const why of checkDns1123Subdomain(group)) errors.push(invalid(where.child("group"), group, why));
  for (const why of checkDns1035Label(version)) errors.push(invalid(where.child("version"), version, why));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20000) {
    errors.push(
      invalid(where.child("groupPriorityMinimum"), groupPriorityMinimum, "must be positive and less than 20000"),
    );
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    errors.push(invalid(where.child("versionPriority"), versionPriority, "must be positive and less than 1000"));
  }
  if (service === undefined) {
    if (caBundle) errors.push(forbidden(where.child("caBundle"), "local APIServices may not have a caBundle"));
    if (spec?.insecureSkipTLSVerify) {
      errors.push(
        forbidden(where.child("insecureSkipTLSVerify"), "local APIServices may not have insecureSkipTLSVerify"),
      );
    }
    return errors;
  }
  if (!service.namespace) errors.push(required(where.child("service", "namespace")));
  if (!service.name) errors.push(required(where.child("service", "name")));
  for (const why of checkPortNumber(service.port ?? 443)) {
    errors.push(invalid(where.child("service", "port"), service.port ?? 443, `port is not valid: ${why}`));
  }
  if (spec?.insecureSkipTLSVerify && caBundle) {
    errors.push(invalid(where.child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"));
  }
  return errors;
}
