import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { RequestFacts } from "../machinery/kind.ts";
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPathSegmentName,
  checkPortNumber,
} from "../machinery/names/names.ts";
import { formatTime, instantOf } from "../machinery/scalars/time.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { APIService as APIServiceObject } from "../types/apiregistration-v1.ts";

const CONDITION_STATUSES = ["True", "False", "Unknown"];

/** APIService: whether this server or a service in the cluster serves a version of an API group. */
export const APIService = defineKind<APIServiceObject>("apiregistration.k8s.io/v1", "APIService", {
  validateName: checkPathSegmentName,
  defaults: ({ spec }) => {
    if (spec?.service !== undefined) spec.service.port ??= 443;
  },
  validate: validateApiService,
  create: { prepare: markLocal },
  update: { allowUnconditional: false },
  subresources: { status: { keeps: "nothing", validate: validateStatus } },
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

/** Versions that this server serves itself are available at once. */
function markLocal(draft: Draft<APIServiceObject>, request?: RequestFacts): void {
  if (draft.spec?.service !== undefined) return;
  const available = {
    type: "Available",
    status: "True",
    ...(request !== undefined && { lastTransitionTime: formatTime(instantOf(request.now)) }),
    reason: "Local",
    message: "Local APIServices are always available",
  };
  draft.status = { conditions: [available] };
}

function availability({ status }: APIServiceObject): string {
  const condition = status?.conditions?.find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  return condition.status === "True" ? "True" : `${condition.status} (${condition.reason ?? ""})`;
}

function validateApiService({ metadata, spec }: APIServiceObject, path: FieldPath): readonly FieldError[] {
  const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0, service, caBundle } = spec ?? {};
  const where = path.child("spec");
  const errors: FieldError[] = [];
  const [name, expected] = [metadata.name ?? "", `${version}.${group}`];
  if (name !== expected && checkPathSegmentName(name).length === 0) {
    const why = `must be \`spec.version+"."+spec.group\`: ${goQuote(expected)}`;
    errors.push(invalid(path.child("metadata", "name"), name, why));
  }
  if (group === "" && version !== "v1") {
    errors.push(required(where.child("group"), "only v1 may have an empty group and it better be legacy kube"));
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
    if (caBundle) {
      const bytes = `${base64Bytes(caBundle)} bytes`;
      errors.push(invalid(where.child("caBundle"), bytes, "local APIServices may not have a caBundle"));
    }
    if (spec?.insecureSkipTLSVerify) {
      const why = "local APIServices may not have insecureSkipTLSVerify";
      errors.push(invalid(where.child("insecureSkipTLSVerify"), true, why));
    }
    return errors;
  }
  if (!service.namespace) errors.push(required(where.child("service", "namespace")));
  if (!service.name) errors.push(required(where.child("service", "name")));
  const { port = 443 } = service;
  const faults = checkPortNumber(port);
  if (faults.length > 0) {
    errors.push(invalid(where.child("service", "port"), port, `port is not valid: ${faults.join()}`));
  }
  if (spec?.insecureSkipTLSVerify && caBundle) {
    errors.push(invalid(where.child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"));
  }
  return errors;
}

function validateStatus({ status }: APIServiceObject, _: APIServiceObject, path: FieldPath): readonly FieldError[] {
  return (status?.conditions ?? []).flatMap((condition, i) => {
    if (CONDITION_STATUSES.includes(condition.status)) return [];
    const where = path.child("status", "conditions").index(i).child("status");
    return [notSupported(where, condition.status, CONDITION_STATUSES)];
  });
}

function base64Bytes(text: string): number {
  return Math.floor((text.replaceAll("=", "").length * 3) / 4);
}
