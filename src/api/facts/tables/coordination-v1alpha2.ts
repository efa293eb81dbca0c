/** Written by scripts/api-facts.ts from k8s.io/api/coordination/v1alpha2 0.36.4: not to be edited. */
export const coordinationV1alpha2 = `
package io.k8s.api.coordination.v1alpha2
use coordination io.k8s.api.coordination.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

LeaseCandidate
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec?! LeaseCandidateSpec

LeaseCandidateList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []LeaseCandidate

LeaseCandidateSpec
 1 leaseName! string
 2 pingTime? *microTime
 3 renewTime? *microTime
 4 binaryVersion! string
 5 emulationVersion? string
 6 strategy?! coordination.CoordinatedLeaseStrategy
`;
