/** Written by scripts/api-facts.ts from k8s.io/api/scheduling/v1alpha2 0.36.4: not to be edited. */
export const schedulingV1alpha2 = `
package io.k8s.api.scheduling.v1alpha2
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum DisruptionMode Pod|PodGroup

BasicSchedulingPolicy

GangSchedulingPolicy
 1 minCount! int32

PodGroup
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! PodGroupSpec
 3 status? PodGroupStatus

PodGroupList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PodGroup

PodGroupResourceClaim
 1 name! string
 2 resourceClaimName? *string
 3 resourceClaimTemplateName? *string

PodGroupResourceClaimStatus
 1 name! string
 2 resourceClaimName? *string

PodGroupSchedulingConstraints
 1 topology? []TopologyConstraint list=atomic

PodGroupSchedulingPolicy
 1 basic? *BasicSchedulingPolicy
 2 gang? *GangSchedulingPolicy

PodGroupSpec
 1 podGroupTemplateRef *PodGroupTemplateReference
 2 schedulingPolicy! PodGroupSchedulingPolicy
 3 schedulingConstraints? *PodGroupSchedulingConstraints
 4 resourceClaims? []PodGroupResourceClaim list=map:name patch=merge,retainKeys:name
 5 disruptionMode? *DisruptionMode ="Pod"
 6 priorityClassName? string
 7 priority? *int32

PodGroupStatus
 1 conditions? []meta.Condition list=map:type patch=merge:type
 2 resourceClaimStatuses? []PodGroupResourceClaimStatus list=map:name patch=merge,retainKeys:name

PodGroupTemplate
 1 name! string
 2 schedulingPolicy! PodGroupSchedulingPolicy
 3 schedulingConstraints *PodGroupSchedulingConstraints
 4 resourceClaims? []PodGroupResourceClaim list=map:name patch=merge,retainKeys:name
 5 disruptionMode? *DisruptionMode
 6 priorityClassName? string
 7 priority? *int32

PodGroupTemplateReference
 1 workload *WorkloadPodGroupTemplateReference

TopologyConstraint
 1 key! string

TypedLocalObjectReference
 1 apiGroup? string go=APIGroup
 2 kind! string
 3 name! string

Workload
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! WorkloadSpec

WorkloadList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Workload

WorkloadPodGroupTemplateReference
 1 workloadName! string
 2 podGroupTemplateName! string

WorkloadSpec
 1 controllerRef? *TypedLocalObjectReference
 2 podGroupTemplates! []PodGroupTemplate list=map:name
`;
