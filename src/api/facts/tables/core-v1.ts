/** Written by scripts/api-facts.ts from k8s.io/api/core/v1 0.36.4: not to be edited. */
export const coreV1 = `
package io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

enum AppArmorProfileType Localhost|RuntimeDefault|Unconfined
enum AzureDataDiskCachingMode None|ReadOnly|ReadWrite
enum AzureDataDiskKind Dedicated|Managed|Shared
enum ClaimResourceStatus ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|NodeResizeInfeasible|NodeResizePending
enum DNSPolicy ClusterFirst|ClusterFirstWithHostNet|Default|None
enum HostPathType |BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket
enum IPFamily |IPv4|IPv6
enum IPFamilyPolicy PreferDualStack|RequireDualStack|SingleStack
enum MountPropagationMode Bidirectional|HostToContainer|None
enum NamespacePhase Active|Terminating
enum NodeInclusionPolicy Honor|Ignore
enum NodePhase Pending|Running|Terminated
enum NodeSelectorOperator DoesNotExist|Exists|Gt|In|Lt|NotIn
enum PersistentVolumeAccessMode ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod
enum PersistentVolumeClaimModifyVolumeStatus InProgress|Infeasible|Pending
enum PersistentVolumeClaimPhase Bound|Lost|Pending
enum PersistentVolumeMode Block|Filesystem
enum PersistentVolumePhase Available|Bound|Failed|Pending|Released
enum PersistentVolumeReclaimPolicy Delete|Recycle|Retain
enum PodFSGroupChangePolicy Always|OnRootMismatch
enum PodPhase Failed|Pending|Running|Succeeded|Unknown
enum PodQOSClass BestEffort|Burstable|Guaranteed
enum PreemptionPolicy Never|PreemptLowerPriority
enum ProcMountType Default|Unmasked
enum Protocol SCTP|TCP|UDP
enum PullPolicy Always|IfNotPresent|Never
enum ResourceQuotaScope BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass
enum RestartPolicy Always|Never|OnFailure
enum ScopeSelectorOperator DoesNotExist|Exists|In|NotIn
enum SeccompProfileType Localhost|RuntimeDefault|Unconfined
enum ServiceAffinity ClientIP|None
enum ServiceExternalTrafficPolicy Cluster|Local
enum ServiceInternalTrafficPolicy Cluster|Local
enum ServiceType ClusterIP|ExternalName|LoadBalancer|NodePort
enum Signal SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ
enum SupplementalGroupsPolicy Merge|Strict
enum TaintEffect NoExecute|NoSchedule|PreferNoSchedule
enum TerminationMessagePolicy FallbackToLogsOnError|File
enum TolerationOperator Equal|Exists|Gt|Lt
enum URIScheme HTTP|HTTPS
enum UnsatisfiableConstraintAction DoNotSchedule|ScheduleAnyway
alias Capability string
alias ComponentConditionType string
alias ConditionStatus string
alias ContainerRestartPolicy string
alias ContainerRestartRuleAction string
alias ContainerRestartRuleOnExitCodesOperator string
alias FinalizerName string
alias LimitType string
alias LoadBalancerIPMode string
alias NamespaceConditionType string
alias NodeAddressType string
alias NodeConditionType string
alias OSName string
alias PersistentVolumeClaimConditionType string
alias PodConditionType string
alias PodResizeStatus string
alias PodSELinuxChangePolicy string
alias RecursiveReadOnlyMode string
alias ReplicationControllerConditionType string
alias ResourceHealthStatus string
alias ResourceID string
alias ResourceList {ResourceName}quantity
alias ResourceName string
alias ResourceResizeRestartPolicy string
alias SecretType string
alias StorageMedium string
alias UniqueVolumeName string

AWSElasticBlockStoreVolumeSource
 1 volumeID! string
 2 fsType? string go=FSType
 3 partition? int32
 4 readOnly? boolean

Affinity
 1 nodeAffinity? *NodeAffinity
 2 podAffinity? *PodAffinity
 3 podAntiAffinity? *PodAntiAffinity

AppArmorProfile
 1 type! AppArmorProfileType
 2 localhostProfile? *string

AttachedVolume
 1 name! UniqueVolumeName
 2 devicePath! string

AvoidPods
 1 preferAvoidPods? []PreferAvoidPodsEntry list=atomic

AzureDiskVolumeSource
 1 diskName! string
 2 diskURI! string go=DataDiskURI
 3 cachingMode? *AzureDataDiskCachingMode ="ReadWrite"
 4 fsType? *string go=FSType ="ext4"
 5 readOnly? *boolean =false
 6 kind? *AzureDataDiskKind ="Shared"

AzureFilePersistentVolumeSource
 1 secretName! string
 2 shareName! string
 3 readOnly? boolean
 4 secretNamespace *string

AzureFileVolumeSource
 1 secretName! string
 2 shareName! string
 3 readOnly? boolean

Binding
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 target! ObjectReference

CSIPersistentVolumeSource
 1 driver! string
 2 volumeHandle! string
 3 readOnly? boolean
 4 fsType? string go=FSType
 5 volumeAttributes? {}string
 6 controllerPublishSecretRef? *SecretReference
 7 nodeStageSecretRef? *SecretReference
 8 nodePublishSecretRef? *SecretReference
 9 controllerExpandSecretRef? *SecretReference
 10 nodeExpandSecretRef? *SecretReference

CSIVolumeSource
 1 driver! string
 2 readOnly? *boolean
 3 fsType? *string go=FSType
 4 volumeAttributes? {}string
 5 nodePublishSecretRef? *LocalObjectReference

Capabilities
 1 add? []Capability list=atomic
 2 drop? []Capability list=atomic

CephFSPersistentVolumeSource
 1 monitors! []string list=atomic
 2 path? string
 3 user? string
 4 secretFile? string
 5 secretRef? *SecretReference
 6 readOnly? boolean

CephFSVolumeSource
 1 monitors! []string list=atomic
 2 path? string
 3 user? string
 4 secretFile? string
 5 secretRef? *LocalObjectReference
 6 readOnly? boolean

CinderPersistentVolumeSource
 1 volumeID! string
 2 fsType? string go=FSType
 3 readOnly? boolean
 4 secretRef? *SecretReference

CinderVolumeSource
 1 volumeID! string
 2 fsType? string go=FSType
 3 readOnly? boolean
 4 secretRef? *LocalObjectReference

ClientIPConfig
 1 timeoutSeconds? *int32

ClusterTrustBundleProjection
 1 name? *string
 2 signerName? *string
 3 labelSelector? *meta.LabelSelector
 5 optional? *boolean
 4 path! string

ComponentCondition
 1 type! ComponentConditionType
 2 status! ConditionStatus
 3 message? string
 4 error? string

ComponentStatus
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 conditions? []ComponentCondition list=map:type patch=merge:type

ComponentStatusList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ComponentStatus

ConfigMap
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 4 immutable? *boolean
 2 data? {}string
 3 binaryData? {}bytes

ConfigMapEnvSource
 1 ... LocalObjectReference
 2 optional? *boolean

ConfigMapKeySelector atomic
 1 ... LocalObjectReference
 2 key! string
 3 optional? *boolean

ConfigMapList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ConfigMap

ConfigMapNodeConfigSource
 1 namespace! string
 2 name! string
 3 uid? types.UID go=UID
 4 resourceVersion? string
 5 kubeletConfigKey! string

ConfigMapProjection
 1 ... LocalObjectReference
 2 items? []KeyToPath list=atomic
 4 optional? *boolean

ConfigMapVolumeSource
 1 ... LocalObjectReference
 2 items? []KeyToPath list=atomic
 3 defaultMode? *int32
 4 optional? *boolean

Container
 1 name! string
 2 image? string
 3 command? []string list=atomic
 4 args? []string list=atomic
 5 workingDir? string
 6 ports? []ContainerPort list=map:containerPort,protocol patch=merge:containerPort
 19 envFrom? []EnvFromSource list=atomic
 7 env? []EnvVar list=map:name patch=merge:name
 8 resources? ResourceRequirements
 23 resizePolicy? []ContainerResizePolicy list=atomic
 24 restartPolicy? *ContainerRestartPolicy
 25 restartPolicyRules? []ContainerRestartRule list=atomic
 9 volumeMounts? []VolumeMount list=map:mountPath patch=merge:mountPath
 21 volumeDevices? []VolumeDevice list=map:devicePath patch=merge:devicePath
 10 livenessProbe? *Probe
 11 readinessProbe? *Probe
 22 startupProbe? *Probe
 12 lifecycle? *Lifecycle
 13 terminationMessagePath? string
 20 terminationMessagePolicy? TerminationMessagePolicy
 14 imagePullPolicy? PullPolicy
 15 securityContext? *SecurityContext
 16 stdin? boolean
 17 stdinOnce? boolean
 18 tty? boolean go=TTY

ContainerExtendedResourceRequest
 1 containerName! string
 2 resourceName! string
 3 requestName! string

ContainerImage
 1 names []string list=atomic
 2 sizeBytes? int64

ContainerPort
 1 name? string
 2 hostPort? int32
 3 containerPort! int32
 4 protocol? Protocol ="TCP"
 5 hostIP? string

ContainerResizePolicy
 1 resourceName! ResourceName
 2 restartPolicy! ResourceResizeRestartPolicy

ContainerRestartRule
 1 action?! ContainerRestartRuleAction
 2 exitCodes? *ContainerRestartRuleOnExitCodes

ContainerRestartRuleOnExitCodes
 1 operator?! ContainerRestartRuleOnExitCodesOperator
 2 values? []int32 list=set

ContainerState
 1 waiting? *ContainerStateWaiting
 2 running? *ContainerStateRunning
 3 terminated? *ContainerStateTerminated

ContainerStateRunning
 1 startedAt? time

ContainerStateTerminated
 1 exitCode! int32
 2 signal? int32
 3 reason? string
 4 message? string
 5 startedAt? time
 6 finishedAt? time
 7 containerID? string

ContainerStateWaiting
 1 reason? string
 2 message? string

ContainerStatus
 1 name! string
 2 state? ContainerState
 3 lastState? ContainerState go=LastTerminationState
 4 ready! boolean
 5 restartCount! int32
 6 image! string
 7 imageID! string
 8 containerID? string
 9 started? *boolean
 10 allocatedResources? ResourceList
 11 resources? *ResourceRequirements
 12 volumeMounts? []VolumeMountStatus list=map:mountPath patch=merge:mountPath
 13 user? *ContainerUser
 14 allocatedResourcesStatus? []ResourceStatus list=map:name patch=merge:name
 15 stopSignal? *Signal

ContainerUser
 1 linux? *LinuxContainerUser

DaemonEndpoint
 1 Port! int32

DownwardAPIProjection
 1 items? []DownwardAPIVolumeFile list=atomic

DownwardAPIVolumeFile
 1 path! string
 2 fieldRef? *ObjectFieldSelector
 3 resourceFieldRef? *ResourceFieldSelector
 4 mode? *int32

DownwardAPIVolumeSource
 1 items? []DownwardAPIVolumeFile list=atomic
 2 defaultMode? *int32

EmptyDirVolumeSource
 1 medium? StorageMedium
 2 sizeLimit? *quantity

EndpointAddress atomic
 1 ip! string go=IP
 3 hostname? string
 4 nodeName? *string
 2 targetRef? *ObjectReference

EndpointPort atomic
 1 name? string
 2 port! int32
 3 protocol? Protocol
 4 appProtocol? *string

EndpointSubset
 1 addresses? []EndpointAddress list=atomic
 2 notReadyAddresses? []EndpointAddress list=atomic
 3 ports? []EndpointPort list=atomic

Endpoints
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 subsets? []EndpointSubset list=atomic

EndpointsList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Endpoints

EnvFromSource
 1 prefix? string
 2 configMapRef? *ConfigMapEnvSource
 3 secretRef? *SecretEnvSource

EnvVar
 1 name! string
 2 value? string
 3 valueFrom? *EnvVarSource

EnvVarSource
 1 fieldRef? *ObjectFieldSelector
 2 resourceFieldRef? *ResourceFieldSelector
 3 configMapKeyRef? *ConfigMapKeySelector
 4 secretKeyRef? *SecretKeySelector
 5 fileKeyRef? *FileKeySelector

EphemeralContainer
 1 ... EphemeralContainerCommon
 2 targetContainerName? string

EphemeralContainerCommon
 1 name! string
 2 image? string
 3 command? []string list=atomic
 4 args? []string list=atomic
 5 workingDir? string
 6 ports? []ContainerPort list=map:containerPort,protocol patch=merge:containerPort
 19 envFrom? []EnvFromSource list=atomic
 7 env? []EnvVar list=map:name patch=merge:name
 8 resources? ResourceRequirements
 23 resizePolicy? []ContainerResizePolicy list=atomic
 24 restartPolicy? *ContainerRestartPolicy
 25 restartPolicyRules? []ContainerRestartRule list=atomic
 9 volumeMounts? []VolumeMount list=map:mountPath patch=merge:mountPath
 21 volumeDevices? []VolumeDevice list=map:devicePath patch=merge:devicePath
 10 livenessProbe? *Probe
 11 readinessProbe? *Probe
 22 startupProbe? *Probe
 12 lifecycle? *Lifecycle
 13 terminationMessagePath? string
 20 terminationMessagePolicy? TerminationMessagePolicy
 14 imagePullPolicy? PullPolicy
 15 securityContext? *SecurityContext
 16 stdin? boolean
 17 stdinOnce? boolean
 18 tty? boolean go=TTY

EphemeralVolumeSource
 1 volumeClaimTemplate? *PersistentVolumeClaimTemplate

Event
 0 ... meta.TypeMeta
 1 metadata! meta.ObjectMeta
 2 involvedObject! ObjectReference
 3 reason? string
 4 message? string
 5 source? EventSource
 6 firstTimestamp? time
 7 lastTimestamp? time
 8 count? int32
 9 type? string
 10 eventTime? microTime
 11 series? *EventSeries
 12 action? string
 13 related? *ObjectReference
 14 reportingComponent string
 15 reportingInstance string

EventList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Event

EventSeries
 1 count? int32
 2 lastObservedTime? microTime

EventSource
 1 component? string
 2 host? string

ExecAction
 1 command? []string list=atomic

FCVolumeSource
 1 targetWWNs? []string list=atomic
 2 lun? *int32
 3 fsType? string go=FSType
 4 readOnly? boolean
 5 wwids? []string go=WWIDs list=atomic

FileKeySelector atomic
 1 volumeName! string
 2 path! string
 3 key! string
 4 optional? *boolean =false

FlexPersistentVolumeSource
 1 driver! string
 2 fsType? string go=FSType
 3 secretRef? *SecretReference
 4 readOnly? boolean
 5 options? {}string

FlexVolumeSource
 1 driver! string
 2 fsType? string go=FSType
 3 secretRef? *LocalObjectReference
 4 readOnly? boolean
 5 options? {}string

FlockerVolumeSource
 1 datasetName? string
 2 datasetUUID? string

GCEPersistentDiskVolumeSource
 1 pdName! string go=PDName
 2 fsType? string go=FSType
 3 partition? int32
 4 readOnly? boolean

GRPCAction
 1 port! int32
 2 service *string =""

GitRepoVolumeSource
 1 repository! string
 2 revision? string
 3 directory? string

GlusterfsPersistentVolumeSource
 1 endpoints! string go=EndpointsName
 2 path! string
 3 readOnly? boolean
 4 endpointsNamespace? *string

GlusterfsVolumeSource
 1 endpoints! string go=EndpointsName
 2 path! string
 3 readOnly? boolean

HTTPGetAction
 1 path? string
 2 port! intOrString
 3 host? string
 4 scheme? URIScheme
 5 httpHeaders? []HTTPHeader go=HTTPHeaders list=atomic

HTTPHeader
 1 name! string
 2 value! string

HostAlias
 1 ip! string go=IP
 2 hostnames? []string list=atomic

HostIP
 1 ip! string go=IP

HostPathVolumeSource
 1 path! string
 2 type? *HostPathType

ISCSIPersistentVolumeSource
 1 targetPortal! string
 2 iqn! string go=IQN
 3 lun! int32
 4 iscsiInterface? string go=ISCSIInterface ="default"
 5 fsType? string go=FSType
 6 readOnly? boolean
 7 portals? []string list=atomic
 8 chapAuthDiscovery? boolean go=DiscoveryCHAPAuth
 11 chapAuthSession? boolean go=SessionCHAPAuth
 10 secretRef? *SecretReference
 12 initiatorName? *string

ISCSIVolumeSource
 1 targetPortal! string
 2 iqn! string go=IQN
 3 lun! int32
 4 iscsiInterface? string go=ISCSIInterface ="default"
 5 fsType? string go=FSType
 6 readOnly? boolean
 7 portals? []string list=atomic
 8 chapAuthDiscovery? boolean go=DiscoveryCHAPAuth
 11 chapAuthSession? boolean go=SessionCHAPAuth
 10 secretRef? *LocalObjectReference
 12 initiatorName? *string

ImageVolumeSource
 1 reference? string
 2 pullPolicy? PullPolicy

ImageVolumeStatus
 1 imageRef?! string

KeyToPath
 1 key! string
 2 path! string
 3 mode? *int32

Lifecycle
 1 postStart? *LifecycleHandler
 2 preStop? *LifecycleHandler
 3 stopSignal? *Signal

LifecycleHandler
 1 exec? *ExecAction
 2 httpGet? *HTTPGetAction go=HTTPGet
 3 tcpSocket? *TCPSocketAction go=TCPSocket
 4 sleep? *SleepAction

LimitRange
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? LimitRangeSpec

LimitRangeItem
 1 type! LimitType
 2 max? ResourceList
 3 min? ResourceList
 4 default? ResourceList
 5 defaultRequest? ResourceList
 6 maxLimitRequestRatio? ResourceList

LimitRangeList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []LimitRange

LimitRangeSpec
 1 limits! []LimitRangeItem list=atomic

LinuxContainerUser
 1 uid! int64 go=UID
 2 gid! int64 go=GID
 3 supplementalGroups? []int64 list=atomic

List same meta.List

LoadBalancerIngress
 1 ip? string go=IP
 2 hostname? string
 3 ipMode? *LoadBalancerIPMode go=IPMode
 4 ports? []PortStatus list=atomic

LoadBalancerStatus
 1 ingress? []LoadBalancerIngress list=atomic

LocalObjectReference atomic
 1 name? string =""

LocalVolumeSource
 1 path! string
 2 fsType? *string go=FSType

ModifyVolumeStatus
 1 targetVolumeAttributesClassName? string
 2 status! PersistentVolumeClaimModifyVolumeStatus

NFSVolumeSource
 1 server! string
 2 path! string
 3 readOnly? boolean

Namespace
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? NamespaceSpec
 3 status? NamespaceStatus

NamespaceCondition
 1 type! NamespaceConditionType
 2 status! ConditionStatus
 4 lastTransitionTime? time
 5 reason? string
 6 message? string

NamespaceList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Namespace

NamespaceSpec
 1 finalizers? []FinalizerName list=atomic

NamespaceStatus
 1 phase? NamespacePhase
 2 conditions? []NamespaceCondition list=map:type patch=merge:type

Node
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? NodeSpec
 3 status? NodeStatus

NodeAddress
 1 type! NodeAddressType
 2 address! string

NodeAffinity
 1 requiredDuringSchedulingIgnoredDuringExecution? *NodeSelector
 2 preferredDuringSchedulingIgnoredDuringExecution? []PreferredSchedulingTerm list=atomic

NodeAllocatableResourceClaimStatus
 1 resourceClaimName! string
 2 containers? []string list=set
 3 resources! ResourceList

NodeCondition
 1 type! NodeConditionType
 2 status! ConditionStatus
 3 lastHeartbeatTime? time
 4 lastTransitionTime? time
 5 reason? string
 6 message? string

NodeConfigSource
 2 configMap? *ConfigMapNodeConfigSource

NodeConfigStatus
 1 assigned? *NodeConfigSource
 2 active? *NodeConfigSource
 3 lastKnownGood? *NodeConfigSource
 4 error? string

NodeDaemonEndpoints
 1 kubeletEndpoint? DaemonEndpoint

NodeFeatures
 1 supplementalGroupsPolicy? *boolean

NodeList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Node

NodeProxyOptions
 0 ... meta.TypeMeta
 1 path? string

NodeRuntimeHandler
 1 name string
 2 features? *NodeRuntimeHandlerFeatures

NodeRuntimeHandlerFeatures
 1 recursiveReadOnlyMounts? *boolean
 2 userNamespaces? *boolean

NodeSelector atomic
 1 nodeSelectorTerms! []NodeSelectorTerm list=atomic

NodeSelectorRequirement
 1 key! string
 2 operator! NodeSelectorOperator
 3 values? []string list=atomic

NodeSelectorTerm atomic
 1 matchExpressions? []NodeSelectorRequirement list=atomic
 2 matchFields? []NodeSelectorRequirement list=atomic

NodeSpec
 1 podCIDR? string
 7 podCIDRs? []string list=set patch=merge
 3 providerID? string
 4 unschedulable? boolean
 5 taints? []Taint list=atomic
 6 configSource? *NodeConfigSource
 2 externalID? string go=DoNotUseExternalID

NodeStatus
 1 capacity? ResourceList
 2 allocatable? ResourceList
 3 phase? NodePhase
 4 conditions? []NodeCondition list=map:type patch=merge:type
 5 addresses? []NodeAddress list=map:type patch=merge:type
 6 daemonEndpoints? NodeDaemonEndpoints
 7 nodeInfo? NodeSystemInfo
 8 images? []ContainerImage list=atomic
 9 volumesInUse? []UniqueVolumeName list=atomic
 10 volumesAttached? []AttachedVolume list=atomic
 11 config? *NodeConfigStatus
 12 runtimeHandlers? []NodeRuntimeHandler list=atomic
 13 features? *NodeFeatures
 14 declaredFeatures? []string list=atomic

NodeSwapStatus
 1 capacity? *int64

NodeSystemInfo
 1 machineID! string
 2 systemUUID! string
 3 bootID! string
 4 kernelVersion! string
 5 osImage! string go=OSImage
 6 containerRuntimeVersion! string
 7 kubeletVersion! string
 8 kubeProxyVersion! string
 9 operatingSystem! string
 10 architecture! string
 11 swap? *NodeSwapStatus

ObjectFieldSelector atomic
 1 apiVersion? string go=APIVersion
 2 fieldPath! string

ObjectReference atomic
 1 kind? string
 2 namespace? string
 3 name? string
 4 uid? types.UID go=UID
 5 apiVersion? string go=APIVersion
 6 resourceVersion? string
 7 fieldPath? string

PersistentVolume
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? PersistentVolumeSpec
 3 status? PersistentVolumeStatus

PersistentVolumeClaim
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? PersistentVolumeClaimSpec
 3 status? PersistentVolumeClaimStatus

PersistentVolumeClaimCondition
 1 type! PersistentVolumeClaimConditionType
 2 status! ConditionStatus
 3 lastProbeTime? time
 4 lastTransitionTime? time
 5 reason? string
 6 message? string

PersistentVolumeClaimList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PersistentVolumeClaim

PersistentVolumeClaimSpec
 1 accessModes? []PersistentVolumeAccessMode list=atomic
 4 selector? *meta.LabelSelector
 2 resources? VolumeResourceRequirements
 3 volumeName? string
 5 storageClassName? *string
 6 volumeMode? *PersistentVolumeMode
 7 dataSource? *TypedLocalObjectReference
 8 dataSourceRef? *TypedObjectReference
 9 volumeAttributesClassName? *string

PersistentVolumeClaimStatus
 1 phase? PersistentVolumeClaimPhase
 2 accessModes? []PersistentVolumeAccessMode list=atomic
 3 capacity? ResourceList
 4 conditions? []PersistentVolumeClaimCondition list=map:type patch=merge:type
 5 allocatedResources? ResourceList
 7 allocatedResourceStatuses? {ResourceName}ClaimResourceStatus map=granular
 8 currentVolumeAttributesClassName? *string
 9 modifyVolumeStatus? *ModifyVolumeStatus

PersistentVolumeClaimTemplate
 1 metadata? meta.ObjectMeta
 2 spec! PersistentVolumeClaimSpec

PersistentVolumeClaimVolumeSource
 1 claimName! string
 2 readOnly? boolean

PersistentVolumeList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PersistentVolume

PersistentVolumeSource
 1 gcePersistentDisk? *GCEPersistentDiskVolumeSource go=GCEPersistentDisk
 2 awsElasticBlockStore? *AWSElasticBlockStoreVolumeSource go=AWSElasticBlockStore
 3 hostPath? *HostPathVolumeSource
 4 glusterfs? *GlusterfsPersistentVolumeSource
 5 nfs? *NFSVolumeSource go=NFS
 6 rbd? *RBDPersistentVolumeSource go=RBD
 7 iscsi? *ISCSIPersistentVolumeSource go=ISCSI
 8 cinder? *CinderPersistentVolumeSource
 9 cephfs? *CephFSPersistentVolumeSource go=CephFS
 10 fc? *FCVolumeSource go=FC
 11 flocker? *FlockerVolumeSource
 12 flexVolume? *FlexPersistentVolumeSource
 13 azureFile? *AzureFilePersistentVolumeSource
 14 vsphereVolume? *VsphereVirtualDiskVolumeSource
 15 quobyte? *QuobyteVolumeSource
 16 azureDisk? *AzureDiskVolumeSource
 17 photonPersistentDisk? *PhotonPersistentDiskVolumeSource
 18 portworxVolume? *PortworxVolumeSource
 19 scaleIO? *ScaleIOPersistentVolumeSource
 20 local? *LocalVolumeSource
 21 storageos? *StorageOSPersistentVolumeSource go=StorageOS
 22 csi? *CSIPersistentVolumeSource go=CSI

PersistentVolumeSpec
 1 capacity? ResourceList
 2 ... PersistentVolumeSource
 3 accessModes? []PersistentVolumeAccessMode list=atomic
 4 claimRef? *ObjectReference map=granular
 5 persistentVolumeReclaimPolicy? PersistentVolumeReclaimPolicy
 6 storageClassName? string
 7 mountOptions? []string list=atomic
 8 volumeMode? *PersistentVolumeMode
 9 nodeAffinity? *VolumeNodeAffinity
 10 volumeAttributesClassName? *string

PersistentVolumeStatus
 1 phase? PersistentVolumePhase
 2 message? string
 3 reason? string
 4 lastPhaseTransitionTime? *time

PhotonPersistentDiskVolumeSource
 1 pdID! string
 2 fsType? string go=FSType

Pod
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? PodSpec
 3 status? PodStatus

PodAffinity
 1 requiredDuringSchedulingIgnoredDuringExecution? []PodAffinityTerm list=atomic
 2 preferredDuringSchedulingIgnoredDuringExecution? []WeightedPodAffinityTerm list=atomic

PodAffinityTerm
 1 labelSelector? *meta.LabelSelector
 2 namespaces? []string list=atomic
 3 topologyKey! string
 4 namespaceSelector? *meta.LabelSelector
 5 matchLabelKeys? []string list=atomic
 6 mismatchLabelKeys? []string list=atomic

PodAntiAffinity
 1 requiredDuringSchedulingIgnoredDuringExecution? []PodAffinityTerm list=atomic
 2 preferredDuringSchedulingIgnoredDuringExecution? []WeightedPodAffinityTerm list=atomic

PodAttachOptions
 0 ... meta.TypeMeta
 1 stdin? boolean
 2 stdout? boolean
 3 stderr? boolean
 4 tty? boolean go=TTY
 5 container? string

PodCertificateProjection
 1 signerName?! string
 2 keyType?! string
 3 maxExpirationSeconds? *int32
 4 credentialBundlePath? string
 5 keyPath? string
 6 certificateChainPath? string
 7 userAnnotations? {}string

PodCondition
 1 type! PodConditionType
 7 observedGeneration? int64
 2 status! ConditionStatus
 3 lastProbeTime? time
 4 lastTransitionTime? time
 5 reason? string
 6 message? string

PodDNSConfig
 1 nameservers? []string list=atomic
 2 searches? []string list=atomic
 3 options? []PodDNSConfigOption list=atomic

PodDNSConfigOption
 1 name? string
 2 value? *string

PodExecOptions
 0 ... meta.TypeMeta
 1 stdin? boolean
 2 stdout? boolean
 3 stderr? boolean
 4 tty? boolean go=TTY
 5 container? string
 6 command! []string list=atomic

PodExtendedResourceClaimStatus
 1 requestMappings! []ContainerExtendedResourceRequest list=atomic
 2 resourceClaimName! string

PodIP
 1 ip! string go=IP

PodList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Pod

PodLogOptions
 0 ... meta.TypeMeta
 1 container? string
 2 follow? boolean
 3 previous? boolean
 4 sinceSeconds? *int64
 5 sinceTime? *time
 6 timestamps? boolean
 7 tailLines? *int64
 8 limitBytes? *int64
 9 insecureSkipTLSVerifyBackend? boolean
 10 stream? *string

PodOS
 1 name! OSName

PodPortForwardOptions
 0 ... meta.TypeMeta
 1 ports? []int32 list=atomic

PodProxyOptions
 0 ... meta.TypeMeta
 1 path? string

PodReadinessGate
 1 conditionType! PodConditionType

PodResourceClaim
 1 name! string
 3 resourceClaimName? *string
 4 resourceClaimTemplateName? *string

PodResourceClaimStatus
 1 name! string
 2 resourceClaimName? *string

PodSchedulingGate
 1 name! string

PodSchedulingGroup
 1 podGroupName? *string

PodSecurityContext
 1 seLinuxOptions? *SELinuxOptions go=SELinuxOptions
 8 windowsOptions? *WindowsSecurityContextOptions
 2 runAsUser? *int64
 6 runAsGroup? *int64
 3 runAsNonRoot? *boolean
 4 supplementalGroups? []int64 list=atomic
 12 supplementalGroupsPolicy? *SupplementalGroupsPolicy
 5 fsGroup? *int64 go=FSGroup
 7 sysctls? []Sysctl list=atomic
 9 fsGroupChangePolicy? *PodFSGroupChangePolicy go=FSGroupChangePolicy
 10 seccompProfile? *SeccompProfile
 11 appArmorProfile? *AppArmorProfile
 13 seLinuxChangePolicy? *PodSELinuxChangePolicy go=SELinuxChangePolicy

PodSignature
 1 podController? *meta.OwnerReference

PodSpec
 1 volumes? []Volume list=map:name patch=merge,retainKeys:name
 20 initContainers? []Container list=map:name patch=merge:name
 2 containers! []Container list=map:name patch=merge:name
 34 ephemeralContainers? []EphemeralContainer list=map:name patch=merge:name
 3 restartPolicy? RestartPolicy
 4 terminationGracePeriodSeconds? *int64
 5 activeDeadlineSeconds? *int64
 6 dnsPolicy? DNSPolicy go=DNSPolicy
 7 nodeSelector? {}string map=atomic
 8 serviceAccountName? string
 9 serviceAccount? string go=DeprecatedServiceAccount
 21 automountServiceAccountToken? *boolean
 10 nodeName? string
 11 hostNetwork? boolean
 12 hostPID? boolean
 13 hostIPC? boolean
 27 shareProcessNamespace? *boolean
 14 securityContext? *PodSecurityContext
 15 imagePullSecrets? []LocalObjectReference list=map:name patch=merge:name
 16 hostname? string
 17 subdomain? string
 18 affinity? *Affinity
 19 schedulerName? string
 22 tolerations? []Toleration list=atomic
 23 hostAliases? []HostAlias list=map:ip patch=merge:ip
 24 priorityClassName? string
 25 priority? *int32
 26 dnsConfig? *PodDNSConfig go=DNSConfig
 28 readinessGates? []PodReadinessGate list=atomic
 29 runtimeClassName? *string
 30 enableServiceLinks? *boolean
 31 preemptionPolicy? *PreemptionPolicy
 32 overhead? ResourceList
 33 topologySpreadConstraints? []TopologySpreadConstraint list=map:topologyKey,whenUnsatisfiable patch=merge:topologyKey
 35 setHostnameAsFQDN? *boolean
 36 os? *PodOS go=OS
 37 hostUsers? *boolean
 38 schedulingGates? []PodSchedulingGate list=map:name patch=merge:name
 39 resourceClaims? []PodResourceClaim list=map:name patch=merge,retainKeys:name
 40 resources? *ResourceRequirements
 41 hostnameOverride? *string
 43 schedulingGroup? *PodSchedulingGroup

PodStatus
 17 observedGeneration? int64
 1 phase? PodPhase
 2 conditions? []PodCondition list=map:type patch=merge:type
 3 message? string
 4 reason? string
 11 nominatedNodeName? string
 5 hostIP? string
 16 hostIPs? []HostIP list=atomic patch=merge:ip
 6 podIP? string
 12 podIPs? []PodIP list=map:ip patch=merge:ip
 7 startTime? *time
 10 initContainerStatuses? []ContainerStatus list=atomic
 8 containerStatuses? []ContainerStatus list=atomic
 9 qosClass? PodQOSClass go=QOSClass
 13 ephemeralContainerStatuses? []ContainerStatus list=atomic
 14 resize? PodResizeStatus
 15 resourceClaimStatuses? []PodResourceClaimStatus list=map:name patch=merge,retainKeys:name
 18 extendedResourceClaimStatus? *PodExtendedResourceClaimStatus
 19 allocatedResources? ResourceList
 20 resources? *ResourceRequirements
 21 nodeAllocatableResourceClaimStatuses? []NodeAllocatableResourceClaimStatus list=atomic

PodStatusResult
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 status? PodStatus

PodTemplate
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 template? PodTemplateSpec

PodTemplateList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PodTemplate

PodTemplateSpec
 1 metadata? meta.ObjectMeta
 2 spec? PodSpec

PortStatus
 1 port! int32
 2 protocol! Protocol
 3 error? *string

PortworxVolumeSource
 1 volumeID! string
 2 fsType? string go=FSType
 3 readOnly? boolean

Preconditions
 1 uid? *types.UID go=UID

PreferAvoidPodsEntry
 1 podSignature! PodSignature
 2 evictionTime? time
 3 reason? string
 4 message? string

PreferredSchedulingTerm
 1 weight! int32
 2 preference! NodeSelectorTerm

Probe
 1 ... ProbeHandler
 2 initialDelaySeconds? int32
 3 timeoutSeconds? int32
 4 periodSeconds? int32
 5 successThreshold? int32
 6 failureThreshold? int32
 7 terminationGracePeriodSeconds? *int64

ProbeHandler
 1 exec? *ExecAction
 2 httpGet? *HTTPGetAction go=HTTPGet
 3 tcpSocket? *TCPSocketAction go=TCPSocket
 4 grpc? *GRPCAction go=GRPC

ProjectedVolumeSource
 1 sources []VolumeProjection list=atomic
 2 defaultMode? *int32

QuobyteVolumeSource
 1 registry! string
 2 volume! string
 3 readOnly? boolean
 4 user? string
 5 group? string
 6 tenant? string

RBDPersistentVolumeSource
 1 monitors! []string go=CephMonitors list=atomic
 2 image! string go=RBDImage
 3 fsType? string go=FSType
 4 pool? string go=RBDPool ="rbd"
 5 user? string go=RadosUser ="admin"
 6 keyring? string ="/etc/ceph/keyring"
 7 secretRef? *SecretReference
 8 readOnly? boolean

RBDVolumeSource
 1 monitors! []string go=CephMonitors list=atomic
 2 image! string go=RBDImage
 3 fsType? string go=FSType
 4 pool? string go=RBDPool ="rbd"
 5 user? string go=RadosUser ="admin"
 6 keyring? string ="/etc/ceph/keyring"
 7 secretRef? *LocalObjectReference
 8 readOnly? boolean

RangeAllocation
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 range! string
 3 data! bytes

ReplicationController
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ReplicationControllerSpec
 3 status? ReplicationControllerStatus

ReplicationControllerCondition
 1 type! ReplicationControllerConditionType
 2 status! ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

ReplicationControllerList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ReplicationController

ReplicationControllerSpec
 1 replicas? *int32 =1
 4 minReadySeconds? int32 =0
 2 selector? {}string map=atomic
 3 template? *PodTemplateSpec

ReplicationControllerStatus
 1 replicas! int32
 2 fullyLabeledReplicas? int32
 4 readyReplicas? int32
 5 availableReplicas? int32
 3 observedGeneration? int64
 6 conditions? []ReplicationControllerCondition list=map:type patch=merge:type

ResourceClaim
 1 name! string
 2 request? string

ResourceFieldSelector atomic
 1 containerName? string
 2 resource! string
 3 divisor? quantity

ResourceHealth
 1 resourceID! ResourceID
 2 health? ResourceHealthStatus
 6 message? *string

ResourceQuota
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ResourceQuotaSpec
 3 status? ResourceQuotaStatus

ResourceQuotaList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ResourceQuota

ResourceQuotaSpec
 1 hard? ResourceList
 2 scopes? []ResourceQuotaScope list=atomic
 3 scopeSelector? *ScopeSelector

ResourceQuotaStatus
 1 hard? ResourceList
 2 used? ResourceList

ResourceRequirements
 1 limits? ResourceList
 2 requests? ResourceList
 3 claims? []ResourceClaim list=map:name

ResourceStatus
 1 name! ResourceName
 2 resources? []ResourceHealth list=map:resourceID

SELinuxOptions
 1 user? string
 2 role? string
 3 type? string
 4 level? string

ScaleIOPersistentVolumeSource
 1 gateway! string
 2 system! string
 3 secretRef! *SecretReference
 4 sslEnabled? boolean go=SSLEnabled
 5 protectionDomain? string
 6 storagePool? string
 7 storageMode? string ="ThinProvisioned"
 8 volumeName? string
 9 fsType? string go=FSType ="xfs"
 10 readOnly? boolean

ScaleIOVolumeSource
 1 gateway! string
 2 system! string
 3 secretRef! *LocalObjectReference
 4 sslEnabled? boolean go=SSLEnabled
 5 protectionDomain? string
 6 storagePool? string
 7 storageMode? string ="ThinProvisioned"
 8 volumeName? string
 9 fsType? string go=FSType ="xfs"
 10 readOnly? boolean

ScopeSelector atomic
 1 matchExpressions? []ScopedResourceSelectorRequirement list=atomic

ScopedResourceSelectorRequirement
 1 scopeName! ResourceQuotaScope
 2 operator! ScopeSelectorOperator
 3 values? []string list=atomic

SeccompProfile
 1 type! SeccompProfileType
 2 localhostProfile? *string

Secret
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 5 immutable? *boolean
 2 data? {}bytes
 4 stringData? {}string
 3 type? SecretType

SecretEnvSource
 1 ... LocalObjectReference
 2 optional? *boolean

SecretKeySelector atomic
 1 ... LocalObjectReference
 2 key! string
 3 optional? *boolean

SecretList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Secret

SecretProjection
 1 ... LocalObjectReference
 2 items? []KeyToPath list=atomic
 4 optional? *boolean

SecretReference atomic
 1 name? string
 2 namespace? string

SecretVolumeSource
 1 secretName? string
 2 items? []KeyToPath list=atomic
 3 defaultMode? *int32
 4 optional? *boolean

SecurityContext
 1 capabilities? *Capabilities
 2 privileged? *boolean
 3 seLinuxOptions? *SELinuxOptions go=SELinuxOptions
 10 windowsOptions? *WindowsSecurityContextOptions
 4 runAsUser? *int64
 8 runAsGroup? *int64
 5 runAsNonRoot? *boolean
 6 readOnlyRootFilesystem? *boolean
 7 allowPrivilegeEscalation? *boolean
 9 procMount? *ProcMountType
 11 seccompProfile? *SeccompProfile
 12 appArmorProfile? *AppArmorProfile

SerializedReference
 0 ... meta.TypeMeta
 1 reference? ObjectReference

Service
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ServiceSpec
 3 status? ServiceStatus

ServiceAccount
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 secrets? []ObjectReference list=map:name patch=merge:name
 3 imagePullSecrets? []LocalObjectReference list=atomic
 4 automountServiceAccountToken? *boolean

ServiceAccountList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ServiceAccount

ServiceAccountTokenProjection
 1 audience? string
 2 expirationSeconds? *int64
 3 path! string

ServiceList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Service

ServicePort
 1 name? string
 2 protocol? Protocol ="TCP"
 6 appProtocol? *string
 3 port! int32
 4 targetPort? intOrString
 5 nodePort? int32

ServiceProxyOptions
 0 ... meta.TypeMeta
 1 path? string

ServiceSpec
 1 ports? []ServicePort list=map:port,protocol patch=merge:port
 2 selector? {}string map=atomic
 3 clusterIP? string
 18 clusterIPs? []string list=atomic
 4 type? ServiceType
 5 externalIPs? []string list=atomic
 7 sessionAffinity? ServiceAffinity
 8 loadBalancerIP? string
 9 loadBalancerSourceRanges? []string list=atomic
 10 externalName? string
 11 externalTrafficPolicy? ServiceExternalTrafficPolicy
 12 healthCheckNodePort? int32
 13 publishNotReadyAddresses? boolean
 14 sessionAffinityConfig? *SessionAffinityConfig
 19 ipFamilies? []IPFamily go=IPFamilies list=atomic
 17 ipFamilyPolicy? *IPFamilyPolicy go=IPFamilyPolicy
 20 allocateLoadBalancerNodePorts? *boolean
 21 loadBalancerClass? *string
 22 internalTrafficPolicy? *ServiceInternalTrafficPolicy
 23 trafficDistribution? *string

ServiceStatus
 1 loadBalancer? LoadBalancerStatus
 2 conditions? []meta.Condition list=map:type patch=merge:type

SessionAffinityConfig
 1 clientIP? *ClientIPConfig

SleepAction
 1 seconds! int64

StorageOSPersistentVolumeSource
 1 volumeName? string
 2 volumeNamespace? string
 3 fsType? string go=FSType
 4 readOnly? boolean
 5 secretRef? *ObjectReference

StorageOSVolumeSource
 1 volumeName? string
 2 volumeNamespace? string
 3 fsType? string go=FSType
 4 readOnly? boolean
 5 secretRef? *LocalObjectReference

Sysctl
 1 name! string
 2 value! string

TCPSocketAction
 1 port! intOrString
 2 host? string

Taint
 1 key! string
 2 value? string
 3 effect! TaintEffect
 4 timeAdded? *time

Toleration
 1 key? string
 2 operator? TolerationOperator
 3 value? string
 4 effect? TaintEffect
 5 tolerationSeconds? *int64

TopologySelectorLabelRequirement
 1 key! string
 2 values! []string list=atomic

TopologySelectorTerm atomic
 1 matchLabelExpressions? []TopologySelectorLabelRequirement list=atomic

TopologySpreadConstraint
 1 maxSkew! int32
 2 topologyKey! string
 3 whenUnsatisfiable! UnsatisfiableConstraintAction
 4 labelSelector? *meta.LabelSelector
 5 minDomains? *int32
 6 nodeAffinityPolicy? *NodeInclusionPolicy
 7 nodeTaintsPolicy? *NodeInclusionPolicy
 8 matchLabelKeys? []string list=atomic

TypedLocalObjectReference atomic
 1 apiGroup *string go=APIGroup
 2 kind! string
 3 name! string

TypedObjectReference
 1 apiGroup *string go=APIGroup
 2 kind! string
 3 name! string
 4 namespace? *string

Volume
 1 name! string
 2 ... VolumeSource

VolumeDevice
 1 name! string
 2 devicePath! string

VolumeMount
 1 name! string
 2 readOnly? boolean
 7 recursiveReadOnly? *RecursiveReadOnlyMode
 3 mountPath! string
 4 subPath? string
 5 mountPropagation? *MountPropagationMode
 6 subPathExpr? string

VolumeMountStatus
 1 name! string
 2 mountPath! string
 3 readOnly? boolean
 4 recursiveReadOnly? *RecursiveReadOnlyMode
 5 volumeStatus? *VolumeStatus

VolumeNodeAffinity
 1 required? *NodeSelector

VolumeProjection
 1 secret? *SecretProjection
 2 downwardAPI? *DownwardAPIProjection
 3 configMap? *ConfigMapProjection
 4 serviceAccountToken? *ServiceAccountTokenProjection
 5 clusterTrustBundle? *ClusterTrustBundleProjection
 6 podCertificate? *PodCertificateProjection

VolumeResourceRequirements
 1 limits? ResourceList
 2 requests? ResourceList

VolumeSource
 1 hostPath? *HostPathVolumeSource
 2 emptyDir? *EmptyDirVolumeSource
 3 gcePersistentDisk? *GCEPersistentDiskVolumeSource go=GCEPersistentDisk
 4 awsElasticBlockStore? *AWSElasticBlockStoreVolumeSource go=AWSElasticBlockStore
 5 gitRepo? *GitRepoVolumeSource
 6 secret? *SecretVolumeSource
 7 nfs? *NFSVolumeSource go=NFS
 8 iscsi? *ISCSIVolumeSource go=ISCSI
 9 glusterfs? *GlusterfsVolumeSource
 10 persistentVolumeClaim? *PersistentVolumeClaimVolumeSource
 11 rbd? *RBDVolumeSource go=RBD
 12 flexVolume? *FlexVolumeSource
 13 cinder? *CinderVolumeSource
 14 cephfs? *CephFSVolumeSource go=CephFS
 15 flocker? *FlockerVolumeSource
 16 downwardAPI? *DownwardAPIVolumeSource
 17 fc? *FCVolumeSource go=FC
 18 azureFile? *AzureFileVolumeSource
 19 configMap? *ConfigMapVolumeSource
 20 vsphereVolume? *VsphereVirtualDiskVolumeSource
 21 quobyte? *QuobyteVolumeSource
 22 azureDisk? *AzureDiskVolumeSource
 23 photonPersistentDisk? *PhotonPersistentDiskVolumeSource
 26 projected? *ProjectedVolumeSource
 24 portworxVolume? *PortworxVolumeSource
 25 scaleIO? *ScaleIOVolumeSource
 27 storageos? *StorageOSVolumeSource go=StorageOS
 28 csi? *CSIVolumeSource go=CSI
 29 ephemeral? *EphemeralVolumeSource
 30 image? *ImageVolumeSource

VolumeStatus
 1 image? *ImageVolumeStatus

VsphereVirtualDiskVolumeSource
 1 volumePath! string
 2 fsType? string go=FSType
 3 storagePolicyName? string
 4 storagePolicyID? string

WeightedPodAffinityTerm
 1 weight! int32
 2 podAffinityTerm! PodAffinityTerm

WindowsSecurityContextOptions
 1 gmsaCredentialSpecName? *string go=GMSACredentialSpecName
 2 gmsaCredentialSpec? *string go=GMSACredentialSpec
 3 runAsUserName? *string
 4 hostProcess? *boolean
`;
