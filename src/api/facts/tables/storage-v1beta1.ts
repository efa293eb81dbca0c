/** Written by scripts/api-facts.ts from k8s.io/api/storage/v1beta1 0.36.4: not to be edited. */
export const storageV1beta1 = `
package io.k8s.api.storage.v1beta1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias FSGroupPolicy string
alias VolumeBindingMode string
alias VolumeLifecycleMode string

CSIDriver
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! CSIDriverSpec

CSIDriverList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []CSIDriver

CSIDriverSpec
 1 attachRequired? *boolean
 2 podInfoOnMount? *boolean
 3 volumeLifecycleModes? []VolumeLifecycleMode list=atomic
 4 storageCapacity? *boolean
 5 fsGroupPolicy? *FSGroupPolicy go=FSGroupPolicy
 6 tokenRequests? []TokenRequest list=atomic
 7 requiresRepublish? *boolean
 8 seLinuxMount? *boolean go=SELinuxMount
 9 nodeAllocatableUpdatePeriodSeconds? *int64
 10 serviceAccountTokenInSecrets? *boolean
 11 preventPodSchedulingIfMissing? *boolean

CSINode
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! CSINodeSpec

CSINodeDriver
 1 name! string
 2 nodeID! string
 3 topologyKeys []string list=atomic
 4 allocatable? *VolumeNodeResources

CSINodeList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []CSINode

CSINodeSpec
 1 drivers! []CSINodeDriver list=map:name patch=merge:name

CSIStorageCapacity
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 nodeTopology? *meta.LabelSelector
 3 storageClassName! string
 4 capacity? *quantity
 5 maximumVolumeSize? *quantity

CSIStorageCapacityList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []CSIStorageCapacity

StorageClass
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 provisioner! string
 3 parameters? {}string
 4 reclaimPolicy? *core.PersistentVolumeReclaimPolicy
 5 mountOptions? []string list=atomic
 6 allowVolumeExpansion? *boolean
 7 volumeBindingMode? *VolumeBindingMode
 8 allowedTopologies? []core.TopologySelectorTerm list=atomic

StorageClassList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []StorageClass

TokenRequest
 1 audience! string
 2 expirationSeconds? *int64

VolumeAttachment
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! VolumeAttachmentSpec
 3 status? VolumeAttachmentStatus

VolumeAttachmentList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []VolumeAttachment

VolumeAttachmentSource
 1 persistentVolumeName? *string
 2 inlineVolumeSpec? *core.PersistentVolumeSpec

VolumeAttachmentSpec
 1 attacher! string
 2 source! VolumeAttachmentSource
 3 nodeName! string

VolumeAttachmentStatus
 1 attached! boolean
 2 attachmentMetadata? {}string
 3 attachError? *VolumeError
 4 detachError? *VolumeError

VolumeAttributesClass
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 driverName! string
 3 parameters? {}string

VolumeAttributesClassList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []VolumeAttributesClass

VolumeError
 1 time? time
 2 message? string
 3 errorCode? *int32

VolumeNodeResources
 1 count? *int32
`;
