/** Written by scripts/api-facts.ts from k8s.io/api/coordination/v1beta1 0.36.4: not to be edited. */
export const coordinationV1beta1 = `
package io.k8s.api.coordination.v1beta1
use coordination io.k8s.api.coordination.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

Lease
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? LeaseSpec

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

LeaseList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Lease

LeaseSpec
 1 holderIdentity? *string
 2 leaseDurationSeconds? *int32
 3 acquireTime? *microTime
 4 renewTime? *microTime
 5 leaseTransitions? *int32
 6 strategy? *coordination.CoordinatedLeaseStrategy
 7 preferredHolder? *string
`;
