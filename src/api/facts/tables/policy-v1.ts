/** Written by scripts/api-facts.ts from k8s.io/api/policy/v1 0.36.4: not to be edited. */
export const policyV1 = `
package io.k8s.api.policy.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum UnhealthyPodEvictionPolicyType AlwaysAllow|IfHealthyBudget

Eviction
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 deleteOptions? *meta.DeleteOptions

PodDisruptionBudget
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? PodDisruptionBudgetSpec
 3 status? PodDisruptionBudgetStatus

PodDisruptionBudgetList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PodDisruptionBudget

PodDisruptionBudgetSpec
 1 minAvailable? *intOrString
 2 selector? *meta.LabelSelector patch=replace
 3 maxUnavailable? *intOrString
 4 unhealthyPodEvictionPolicy? *UnhealthyPodEvictionPolicyType

PodDisruptionBudgetStatus
 1 observedGeneration? int64
 2 disruptedPods? {}time
 3 disruptionsAllowed int32
 4 currentHealthy int32
 5 desiredHealthy int32
 6 expectedPods int32
 7 conditions? []meta.Condition list=map:type patch=merge:type
`;
