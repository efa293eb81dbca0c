/** Written by scripts/api-facts.ts from k8s.io/api/resource/v1alpha3 0.36.4: not to be edited. */
export const resourceV1alpha3 = `
package io.k8s.api.resource.v1alpha3
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum DeviceTaintEffect NoExecute|NoSchedule|None

CELDeviceSelector
 1 expression! string

DeviceSelector
 1 cel? *CELDeviceSelector go=CEL

DeviceTaint
 1 key! string
 2 value? string
 3 effect! DeviceTaintEffect
 4 timeAdded? *time

DeviceTaintRule
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! DeviceTaintRuleSpec
 3 status? DeviceTaintRuleStatus

DeviceTaintRuleList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []DeviceTaintRule

DeviceTaintRuleSpec
 1 deviceSelector? *DeviceTaintSelector
 2 taint?! DeviceTaint

DeviceTaintRuleStatus
 1 conditions? []meta.Condition list=map:type patch=merge:type

DeviceTaintSelector
 2 driver? *string
 3 pool? *string
 4 device? *string

PoolStatus
 1 driver?! string
 2 poolName?! string
 9 generation! int64
 8 resourceSliceCount? *int32
 4 totalDevices? *int32
 5 allocatedDevices? *int32
 6 availableDevices? *int32
 7 unavailableDevices? *int32
 3 nodeName? *string
 10 validationError? *string

ResourcePoolStatusRequest
 0 ... meta.TypeMeta
 1 metadata?! meta.ObjectMeta
 2 spec! ResourcePoolStatusRequestSpec
 3 status? *ResourcePoolStatusRequestStatus

ResourcePoolStatusRequestList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ResourcePoolStatusRequest

ResourcePoolStatusRequestSpec
 1 driver! string
 2 poolName? *string
 3 limit? *int32 =100

ResourcePoolStatusRequestStatus
 6 poolCount?! *int32
 2 pools? []PoolStatus list=atomic
 3 conditions? []meta.Condition list=map:type patch=merge:type
`;
