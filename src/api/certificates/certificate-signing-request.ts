/**
 * CertificateSigningRequest. Its spec is immutable, and the server sets the requestor. `approval` changes only
 * conditions, `status` everything in the status but the approval.
 */
import { ageColumn, humanDuration } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { CertificateSigningRequest as RequestObject } from "../types/certificates-v1.ts";
import { carryApproval, stampConditions } from "./conditions.ts";
import { validateRequest, validateRequestStatus, validateRequestUpdate } from "./validation.ts";

const spec = "io.k8s.api.certificates.v1.CertificateSigningRequestSpec";

export const CertificateSigningRequest = defineKind<RequestObject>(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  {
    resetFields: ["spec"],
    create: {
      prepare: ({ spec }, request) => {
        for (const field of ["username", "uid", "groups", "extra"] as const) delete spec[field];
        if (request === undefined) return;
        const { name, uid, groups, extra } = request.user;
        spec.username = name;
        if (uid) spec.uid = uid;
        if (groups.length > 0) spec.groups = [...groups];
        if (Object.keys(extra).length > 0) spec.extra = structuredClone(extra) as Record<string, string[]>;
      },
    },
    validate: validateRequest,
    update: {
      prepare: keepSpec,
      validate: validateRequestUpdate,
    },
    subresources: {
      status: {
        prepare: (draft, old, request) => {
          keepSpec(draft, old);
          carryApproval(draft, old);
          stampConditions(draft, old, request);
        },
        validate: (next, old, path) => [...validateRequest(next, path), ...validateRequestStatus(next, old, path)],
      },
      parts: {
        approval: {
          verbs: ["get", "patch", "update"],
          prepare: (draft, old, request) => {
            stampConditions(draft, old, request);
            keepSpec(draft, old);
            const conditions = draft.status?.conditions;
            draft.status = structuredClone(old.status ?? {}) as NonNullable<Draft<RequestObject>["status"]>;
            if (conditions === undefined) delete draft.status.conditions;
            else draft.status.conditions = conditions;
          },
          validate: (next, old, path) => [...validateRequest(next, path), ...validateRequestUpdate(next, old, path)],
        },
      },
    },
    columns: [
      ageColumn,
      {
        name: "SignerName",
        type: "string",
        doc: "io.k8s.api.certificates.v1beta1.CertificateSigningRequestSpec.signerName",
        cell: ({ spec }) => spec.signerName || "<none>",
      },
      {
        name: "Requestor",
        type: "string",
        doc: "io.k8s.api.certificates.v1beta1.CertificateSigningRequestSpec.request",
        description: "Who asks for the certificate.",
        cell: ({ spec }) => spec.username ?? "",
      },
      {
        name: "RequestedDuration",
        type: "string",
        doc: `${spec}.expirationSeconds`,
        cell: ({ spec }) =>
          spec.expirationSeconds === undefined ? "<none>" : humanDuration(spec.expirationSeconds * 1000),
      },
      {
        name: "Condition",
        type: "string",
        doc: "io.k8s.api.certificates.v1beta1.CertificateSigningRequestStatus.conditions",
        description: "Whether it was approved, denied, failed or issued.",
        cell: conditionText,
      },
    ],
    selectableFields: { names: ["spec.signerName"], valueOf: ({ spec }) => spec.signerName },
  },
);

function keepSpec(draft: Draft<RequestObject>, old: RequestObject): void {
  draft.spec = structuredClone(old.spec) as Draft<RequestObject>["spec"];
}

function conditionText({ status }: RequestObject): string {
  const types = (status?.conditions ?? []).map(({ type }) => type);
  const words = [types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending"];
  if (types.includes("Failed")) words.push("Failed");
  if (status?.certificate) words.push("Issued");
  return words.join(",");
}
