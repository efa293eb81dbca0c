/** Written by scripts/api-facts.ts from k8s.io/apimachinery/pkg/apis/meta/v1 0.36.4: not to be edited. */
export const metaV1 = `
package io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

alias CauseType string
alias ConditionStatus string
alias DeletionPropagation string
alias FieldSelectorOperator string
alias IncludeObjectPolicy string
alias LabelSelectorOperator string
alias ManagedFieldsOperationType string
alias ResourceVersionMatch string
alias RowConditionType string
alias StatusReason string

APIGroup
 0 ... TypeMeta
 1 name! string
 2 versions! []GroupVersionForDiscovery list=atomic
 3 preferredVersion? GroupVersionForDiscovery
 4 serverAddressByClientCIDRs? []ServerAddressByClientCIDR list=atomic

APIGroupList
 0 ... TypeMeta
 1 groups! []APIGroup list=atomic

APIResource
 1 name! string
 6 singularName! string
 2 namespaced! boolean
 8 group? string
 9 version? string
 3 kind! string
 4 verbs! Verbs
 5 shortNames? []string list=atomic
 7 categories? []string list=atomic
 10 storageVersionHash? string

APIResourceList
 0 ... TypeMeta
 1 groupVersion! string
 2 resources! []APIResource list=atomic

APIVersions
 0 ... TypeMeta
 1 versions! []string list=atomic
 2 serverAddressByClientCIDRs! []ServerAddressByClientCIDR list=atomic

ApplyOptions
 0 ... TypeMeta
 1 dryRun? []string list=atomic
 2 force! boolean
 3 fieldManager! string

Condition
 1 type! string
 2 status! ConditionStatus
 3 observedGeneration? int64
 4 lastTransitionTime! time
 5 reason! string
 6 message! string

CreateOptions
 0 ... TypeMeta
 1 dryRun? []string list=atomic
 3 fieldManager? string
 4 fieldValidation? string

DeleteOptions
 0 ... TypeMeta
 1 gracePeriodSeconds? *int64
 2 preconditions? *Preconditions
 3 orphanDependents? *boolean
 4 propagationPolicy? *DeletionPropagation
 5 dryRun? []string list=atomic
 6 ignoreStoreReadErrorWithClusterBreakingPotential? *boolean

FieldSelectorRequirement
 1 key! string
 2 operator! FieldSelectorOperator
 3 values? []string list=atomic

GetOptions
 0 ... TypeMeta
 1 resourceVersion? string

GroupKind
 1 group! string
 2 kind! string

GroupResource
 1 group! string
 2 resource! string

GroupVersion
 1 group! string
 2 version! string

GroupVersionForDiscovery
 1 groupVersion! string
 2 version! string

GroupVersionKind
 1 group! string
 2 version! string
 3 kind! string

GroupVersionResource
 1 group! string
 2 version! string
 3 resource! string

LabelSelector atomic
 1 matchLabels? {}string
 2 matchExpressions? []LabelSelectorRequirement list=atomic

LabelSelectorRequirement
 1 key! string
 2 operator! LabelSelectorOperator
 3 values? []string list=atomic

List
 0 ... TypeMeta
 1 metadata? ListMeta
 2 items! []raw

ListMeta
 1 selfLink? string
 2 resourceVersion? string
 3 continue? string
 4 remainingItemCount? *int64
 5 shardInfo? *ShardInfo

ListOptions
 0 ... TypeMeta
 1 labelSelector? string
 2 fieldSelector? string
 3 watch? boolean
 9 allowWatchBookmarks? boolean
 4 resourceVersion? string
 10 resourceVersionMatch? ResourceVersionMatch
 5 timeoutSeconds? *int64
 7 limit? int64
 8 continue? string
 11 sendInitialEvents? *boolean
 15 shardSelector? string

ManagedFieldsEntry
 1 manager? string
 2 operation? ManagedFieldsOperationType
 3 apiVersion? string go=APIVersion
 4 time? *time
 6 fieldsType? string
 7 fieldsV1? *raw
 8 subresource? string

ObjectMeta
 1 name? string
 2 generateName? string
 3 namespace? string
 4 selfLink? string
 5 uid? types.UID go=UID
 6 resourceVersion? string
 7 generation? int64
 8 creationTimestamp~ time
 9 deletionTimestamp? *time
 10 deletionGracePeriodSeconds? *int64
 11 labels? {}string
 12 annotations? {}string
 13 ownerReferences? []OwnerReference list=map:uid patch=merge:uid
 14 finalizers? []string list=set patch=merge
 17 managedFields? []ManagedFieldsEntry list=atomic

OwnerReference atomic
 5 apiVersion! string go=APIVersion
 1 kind! string
 3 name! string
 4 uid! types.UID go=UID
 6 controller? *boolean
 7 blockOwnerDeletion? *boolean

PartialObjectMetadata
 0 ... TypeMeta
 1 metadata? ObjectMeta

PartialObjectMetadataList
 0 ... TypeMeta
 1 metadata? ListMeta
 2 items! []PartialObjectMetadata

Patch

PatchOptions
 0 ... TypeMeta
 1 dryRun? []string list=atomic
 2 force? *boolean
 3 fieldManager? string
 4 fieldValidation? string

Preconditions
 1 uid? *types.UID go=UID
 2 resourceVersion? *string

RootPaths
 1 paths! []string list=atomic

ServerAddressByClientCIDR
 1 clientCIDR! string
 2 serverAddress! string

ShardInfo
 1 selector! string

Status
 0 ... TypeMeta
 1 metadata? ListMeta
 2 status? string
 3 message? string
 4 reason? StatusReason
 5 details? *StatusDetails
 6 code? int32

StatusCause
 1 reason? CauseType
 2 message? string
 3 field? string

StatusDetails
 1 name? string
 2 group? string
 3 kind? string
 6 uid? types.UID go=UID
 4 causes? []StatusCause list=atomic
 5 retryAfterSeconds? int32

Table
 0 ... TypeMeta
 0 metadata? ListMeta
 0 columnDefinitions! []TableColumnDefinition list=atomic
 0 rows! []TableRow list=atomic

TableColumnDefinition
 0 name! string
 0 type! string
 0 format! string
 0 description! string
 0 priority! int32

TableOptions
 0 ... TypeMeta
 1 includeObject? IncludeObjectPolicy

TableRow
 0 cells! []any list=atomic
 0 conditions? []TableRowCondition list=atomic
 0 object? raw

TableRowCondition
 0 type! RowConditionType
 0 status! ConditionStatus
 0 reason? string
 0 message? string

Timestamp
 1 seconds! int64
 2 nanos! int32

TypeMeta
 1 kind? string
 2 apiVersion? string go=APIVersion

UpdateOptions
 0 ... TypeMeta
 1 dryRun? []string list=atomic
 2 fieldManager? string
 3 fieldValidation? string

Verbs list string

WatchEvent
 1 type! string
 2 object! raw
`;
