/**
 * Requests that no policy applies to: policies themselves, so that a bad one can still be repaired, and reviews, which
 * are never stored and without which nobody could log in.
 */
import type { AdmissionAttributes } from "../../rest/server-context.ts";

const EXEMPT = new Set([
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
]);

export function isExempt({ resource: { groupResource } }: AdmissionAttributes): boolean {
  return EXEMPT.has(`${groupResource.group}/${groupResource.resource}`);
}
