/**
 * PodCertificateRequest: a kubelet asks a signer for the certificate of a Pod. Its spec is immutable; its status is
 * written once, when the request is issued, denied or failed.
 */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { unchangedField } from "../definition/field-checks.ts";
import type { PodCertificateRequest as RequestObject } from "../types/certificates-v1beta1.ts";
import { validateIssued, validatePodRequest } from "./pod-request-validation.ts";

const spec = "io.k8s.api.certificates.v1beta1.PodCertificateRequestSpec";

export const PodCertificateRequest = defineKind<RequestObject>("certificates.k8s.io/v1beta1", "PodCertificateRequest", {
  create: { validate: ({ spec }, at) => validatePodRequest(spec, at.child("spec")) },
  update: {
    validate: (next, old, at) => unchangedField("certificates.v1beta1.PodCertificateRequest", "spec", next, old, at),
    allowUnconditional: false,
  },
  subresources: { status: { keeps: "nothing", validate: validateIssued } },
  columns: [
    { name: "PodName", type: "string", doc: `${spec}.podName`, cell: ({ spec }) => spec.podName },
    { name: "NodeName", type: "string", doc: `${spec}.nodeName`, cell: ({ spec }) => spec.nodeName },
    { name: "SignerName", type: "string", doc: `${spec}.signerName`, cell: ({ spec }) => spec.signerName },
    {
      name: "State",
      type: "string",
      description: "Whether it is pending, issued, denied or failed.",
      cell: ({ status }) => status?.conditions?.find((condition) => condition.status === "True")?.type ?? "Pending",
    },
    ageColumn,
  ],
  selectableFields: {
    names: ["spec.signerName", "spec.podName", "spec.nodeName"],
    valueOf: ({ spec }, name) =>
      name === "spec.signerName" ? spec.signerName : name === "spec.podName" ? spec.podName : spec.nodeName,
  },
});
