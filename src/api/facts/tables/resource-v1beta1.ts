/** Written by scripts/api-facts.ts from k8s.io/api/resource/v1beta1 0.36.4: not to be edited. */
export const resourceV1beta1 = `
package io.k8s.api.resource.v1beta1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

enum AllocationConfigSource FromClaim|FromClass
enum DeviceAllocationMode All|ExactCount
enum DeviceTaintEffect NoExecute|NoSchedule|None
enum DeviceTolerationOperator Equal|Exists
alias FullyQualifiedName string
alias QualifiedName string

AllocatedDeviceStatus
 1 driver! string
 2 pool! string
 3 device! string
 7 shareID? *string
 4 conditions []meta.Condition list=map:type
 5 data? *raw
 6 networkData? *NetworkDeviceData

AllocationResult
 1 devices? DeviceAllocationResult
 3 nodeSelector? *core.NodeSelector
 5 allocationTimestamp? *time

BasicDevice
 1 attributes? {QualifiedName}DeviceAttribute
 2 capacity? {QualifiedName}DeviceCapacity
 3 consumesCounters? []DeviceCounterConsumption list=atomic
 4 nodeName? *string
 5 nodeSelector? *core.NodeSelector
 6 allNodes? *boolean
 7 taints? []DeviceTaint list=atomic
 8 bindsToNode? *boolean
 9 bindingConditions? []string list=atomic
 10 bindingFailureConditions? []string list=atomic
 11 allowMultipleAllocations? *boolean
 12 nodeAllocatableResourceMappings? {core.ResourceName}NodeAllocatableResourceMapping

CELDeviceSelector
 1 expression! string

CapacityRequestPolicy
 1 default *quantity
 3 validValues? []quantity list=atomic
 4 validRange? *CapacityRequestPolicyRange

CapacityRequestPolicyRange
 1 min?! *quantity
 2 max? *quantity
 3 step? *quantity

CapacityRequirements
 1 requests? {QualifiedName}quantity

Counter
 1 value! quantity

CounterSet
 1 name! string
 2 counters?! {}Counter

Device
 1 name! string
 2 basic? *BasicDevice

DeviceAllocationConfiguration
 1 source! AllocationConfigSource
 2 requests? []string list=atomic
 3 ... DeviceConfiguration

DeviceAllocationResult
 1 results? []DeviceRequestAllocationResult list=atomic
 2 config? []DeviceAllocationConfiguration list=atomic

DeviceAttribute
 2 int? *int64 go=IntValue
 3 bool? *boolean go=BoolValue
 4 string? *string go=StringValue
 5 version? *string go=VersionValue
 6 ints? []int64 go=IntValues list=atomic
 7 bools? []boolean go=BoolValues list=atomic
 8 strings? []string go=StringValues list=atomic
 9 versions? []string go=VersionValues list=atomic

DeviceCapacity
 1 value! quantity
 2 requestPolicy? *CapacityRequestPolicy

DeviceClaim
 1 requests []DeviceRequest list=atomic
 2 constraints? []DeviceConstraint list=atomic
 3 config? []DeviceClaimConfiguration list=atomic

DeviceClaimConfiguration
 1 requests? []string list=atomic
 2 ... DeviceConfiguration

DeviceClass
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! DeviceClassSpec

DeviceClassConfiguration
 1 ... DeviceConfiguration

DeviceClassList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []DeviceClass

DeviceClassSpec
 1 selectors? []DeviceSelector list=atomic
 2 config? []DeviceClassConfiguration list=atomic
 4 extendedResourceName? *string

DeviceConfiguration
 1 opaque? *OpaqueDeviceConfiguration

DeviceConstraint
 1 requests? []string list=atomic
 2 matchAttribute? *FullyQualifiedName
 3 distinctAttribute? *FullyQualifiedName

DeviceCounterConsumption
 1 counterSet! string
 2 counters?! {}Counter

DeviceRequest
 1 name! string
 2 deviceClassName string
 3 selectors? []DeviceSelector list=atomic
 4 allocationMode? DeviceAllocationMode
 5 count? int64
 6 adminAccess? *boolean
 7 firstAvailable? []DeviceSubRequest list=atomic
 8 tolerations? []DeviceToleration list=atomic
 9 capacity? *CapacityRequirements

DeviceRequestAllocationResult
 1 request! string
 2 driver! string
 3 pool! string
 4 device! string
 5 adminAccess? *boolean
 6 tolerations? []DeviceToleration list=atomic
 7 bindingConditions? []string list=atomic
 8 bindingFailureConditions? []string list=atomic
 9 shareID? *types.UID
 10 consumedCapacity? {QualifiedName}quantity

DeviceSelector
 1 cel? *CELDeviceSelector go=CEL

DeviceSubRequest
 1 name! string
 2 deviceClassName! string
 3 selectors? []DeviceSelector list=atomic
 4 allocationMode? DeviceAllocationMode
 5 count? int64
 7 tolerations? []DeviceToleration list=atomic
 8 capacity? *CapacityRequirements

DeviceTaint
 1 key! string
 2 value? string
 3 effect! DeviceTaintEffect
 4 timeAdded? *time

DeviceToleration
 1 key? string
 2 operator? DeviceTolerationOperator ="Equal"
 3 value? string
 4 effect? DeviceTaintEffect
 5 tolerationSeconds? *int64

NetworkDeviceData
 1 interfaceName? string
 2 ips? []string go=IPs list=atomic
 3 hardwareAddress? string

NodeAllocatableResourceMapping
 1 capacityKey? *QualifiedName
 2 allocationMultiplier? *quantity

OpaqueDeviceConfiguration
 1 driver! string
 2 parameters! raw

ResourceClaim
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! ResourceClaimSpec
 3 status? ResourceClaimStatus

ResourceClaimConsumerReference
 1 apiGroup? string go=APIGroup
 3 resource! string
 4 name! string
 5 uid! types.UID go=UID

ResourceClaimList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ResourceClaim

ResourceClaimSpec
 1 devices DeviceClaim

ResourceClaimStatus
 1 allocation? *AllocationResult
 2 reservedFor? []ResourceClaimConsumerReference list=map:uid patch=merge:uid
 4 devices? []AllocatedDeviceStatus list=map:driver,device,pool,shareID

ResourceClaimTemplate
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! ResourceClaimTemplateSpec

ResourceClaimTemplateList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ResourceClaimTemplate

ResourceClaimTemplateSpec
 1 metadata? meta.ObjectMeta
 2 spec! ResourceClaimSpec

ResourcePool
 1 name! string
 2 generation! int64
 3 resourceSliceCount! int64

ResourceSlice
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! ResourceSliceSpec

ResourceSliceList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ResourceSlice

ResourceSliceSpec
 1 driver! string
 2 pool! ResourcePool
 3 nodeName? string
 4 nodeSelector? *core.NodeSelector
 5 allNodes? boolean
 6 devices? []Device list=atomic
 7 perDeviceNodeSelection? *boolean
 8 sharedCounters? []CounterSet list=atomic
`;
