/** Written by scripts/api-facts.ts from k8s.io/api/apiserverinternal/v1alpha1 0.36.4: not to be edited. */
export const apiserverinternalV1alpha1 = `
package io.k8s.api.apiserverinternal.v1alpha1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias ConditionStatus string
alias StorageVersionConditionType string

ServerStorageVersion
 1 apiServerID?! string go=APIServerID
 2 encodingVersion?! string
 3 decodableVersions?! []string list=set
 4 servedVersions? []string list=set

StorageVersion
 0 ... meta.TypeMeta
 1 metadata?! meta.ObjectMeta
 2 spec StorageVersionSpec
 3 status StorageVersionStatus

StorageVersionCondition
 1 type! StorageVersionConditionType
 2 status! ConditionStatus
 3 observedGeneration? int64
 4 lastTransitionTime? time
 5 reason! string
 6 message?! string

StorageVersionList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []StorageVersion

StorageVersionSpec

StorageVersionStatus
 1 storageVersions? []ServerStorageVersion list=map:apiServerID
 2 commonEncodingVersion? *string
 3 conditions? []StorageVersionCondition list=map:type
`;
