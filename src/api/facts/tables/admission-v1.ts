/** Written by scripts/api-facts.ts from k8s.io/api/admission/v1 0.36.4: not to be edited. */
export const admissionV1 = `
package io.k8s.api.admission.v1
use authentication io.k8s.api.authentication.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

alias Operation string
alias PatchType string

AdmissionRequest
 1 uid types.UID go=UID
 2 kind meta.GroupVersionKind
 3 resource meta.GroupVersionResource
 4 subResource? string
 13 requestKind? *meta.GroupVersionKind
 14 requestResource? *meta.GroupVersionResource
 15 requestSubResource? string
 5 name? string
 6 namespace? string
 7 operation Operation
 8 userInfo authentication.UserInfo
 9 object? raw
 10 oldObject? raw
 11 dryRun? *boolean
 12 options? raw

AdmissionResponse
 1 uid types.UID go=UID
 2 allowed boolean
 3 status? *meta.Status
 4 patch? bytes
 5 patchType? *PatchType
 6 auditAnnotations? {}string
 7 warnings? []string list=atomic

AdmissionReview
 0 ... meta.TypeMeta
 1 request? *AdmissionRequest
 2 response? *AdmissionResponse
`;
