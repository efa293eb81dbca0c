/** Written by scripts/api-facts.ts from k8s.io/api/coordination/v1 0.36.4: not to be edited. */
export const coordinationV1 = `
package io.k8s.api.coordination.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias CoordinatedLeaseStrategy string

Lease
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? LeaseSpec

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
 6 strategy? *CoordinatedLeaseStrategy
 7 preferredHolder? *string
`;
