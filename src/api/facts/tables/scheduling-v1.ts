/** Written by scripts/api-facts.ts from k8s.io/api/scheduling/v1 0.36.4: not to be edited. */
export const schedulingV1 = `
package io.k8s.api.scheduling.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

PriorityClass
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 value int32
 3 globalDefault? boolean
 4 description? string
 5 preemptionPolicy? *core.PreemptionPolicy

PriorityClassList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PriorityClass
`;
