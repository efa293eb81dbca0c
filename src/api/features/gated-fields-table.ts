/**
 * The fields of each feature gate, by kind. README.md explains the lines. A section without a version (`podSpec`,
 * `claimSpec`) is a part of several kinds: `podSpec at spec.template.spec` puts it there.
 */
export const gatedFieldsTable = `
podSpec
 ClusterTrustBundleProjection volumes[].projected.sources[].clusterTrustBundle
 ContainerRestartRules containers[].restartPolicy (containers|initContainers)[].restartPolicyRules
 ContainerStopSignals (containers|initContainers|ephemeralContainers)[].lifecycle?.stopSignal
 DynamicResourceAllocation resourceClaims (containers|initContainers|ephemeralContainers)[].resources.claims
 EnvFiles (containers|initContainers|ephemeralContainers)[].env[].valueFrom.fileKeyRef
 GenericWorkload schedulingGroup
 HostnameOverride hostnameOverride
 InPlacePodVerticalScaling (containers|initContainers|ephemeralContainers)[].resizePolicy
 MatchLabelKeysInPodTopologySpread topologySpreadConstraints[].matchLabelKeys
 PodCertificateRequest volumes[].projected.sources[].podCertificate
 PodLevelResources resources
 PodLifecycleSleepAction (containers|initContainers)[].lifecycle.(preStop|postStart).sleep
 ProcMountType (containers|initContainers|ephemeralContainers)[].securityContext.procMount=Default
 SELinuxChangePolicy securityContext.seLinuxChangePolicy
 SupplementalGroupsPolicy securityContext.supplementalGroupsPolicy
 UserNamespacesSupport hostUsers

v1/Pod
 podSpec at spec
 ContainerStopSignals status.(containerStatuses|initContainerStatuses|ephemeralContainerStatuses)[].stopSignal
 DRAExtendedResource status.extendedResourceClaimStatus
 DRANodeAllocatableResources status.nodeAllocatableResourceClaimStatuses
 DynamicResourceAllocation status.resourceClaimStatuses
 ImageVolumeWithDigest status.(containerStatuses|initContainerStatuses|ephemeralContainerStatuses)[].volumeMounts[].volumeStatus
 InPlacePodLevelResourcesVerticalScaling status.(resources|allocatedResources)
 InPlacePodVerticalScaling status.(containerStatuses|initContainerStatuses|ephemeralContainerStatuses)[].resources
 PodObservedGenerationTracking status.observedGeneration status.conditions[].observedGeneration
 ResourceHealthStatus status.(containerStatuses|initContainerStatuses|ephemeralContainerStatuses)[].allocatedResourcesStatus
 ResourceHealthStatusMessage status.(containerStatuses|initContainerStatuses)[].allocatedResourcesStatus[].resources[].message
 SupplementalGroupsPolicy status.(containerStatuses|initContainerStatuses|ephemeralContainerStatuses)[].user

v1/PodTemplate
 podSpec at template.spec

v1/ReplicationController
 podSpec at spec.template.spec

apps/v1/DaemonSet
 podSpec at spec.template.spec

apps/v1/Deployment
 podSpec at spec.template.spec
 DeploymentReplicaSetTerminatingReplicas status.terminatingReplicas

apps/v1/ReplicaSet
 podSpec at spec.template.spec
 DeploymentReplicaSetTerminatingReplicas status.terminatingReplicas

apps/v1/StatefulSet
 podSpec at spec.template.spec
 MaxUnavailableStatefulSet spec.updateStrategy.rollingUpdate.maxUnavailable

batch/v1/Job
 podSpec at spec.template.spec
 JobManagedBy spec.managedBy
 JobPodReplacementPolicy spec.podReplacementPolicy

batch/v1/CronJob
 podSpec at spec.jobTemplate.spec.template.spec
 JobManagedBy spec.jobTemplate.spec.managedBy
 JobPodReplacementPolicy spec.jobTemplate.spec.podReplacementPolicy

v1/Node
 NodeDeclaredFeatures status.declaredFeatures
 NodeSwap status.nodeInfo.swap
 SupplementalGroupsPolicy status.features
 UserNamespacesSupport status.runtimeHandlers[].features.userNamespaces

v1/PersistentVolume
 VolumeAttributesClass spec.volumeAttributesClassName

v1/PersistentVolumeClaim
 RecoverVolumeExpansionFailure status.(allocatedResources|allocatedResourceStatuses)
 VolumeAttributesClass spec.volumeAttributesClassName status.(currentVolumeAttributesClassName|modifyVolumeStatus)

apiextensions.k8s.io/v1/CustomResourceDefinition
 CRDObservedGenerationTracking status.observedGeneration status.conditions[].observedGeneration

autoscaling/v2/HorizontalPodAutoscaler
 HPAConfigurableTolerance spec.behavior.(scaleUp|scaleDown).tolerance

coordination.k8s.io/v1/Lease
 CoordinatedLeaderElection spec.(strategy|preferredHolder)

discovery.k8s.io/v1/EndpointSlice
 PreferSameTrafficDistribution endpoints[].hints?.forNodes

claimSpec
 DRAAdminAccess devices.requests[].exactly.adminAccess
 DRAConsumableCapacity devices.requests[].(exactly|firstAvailable[]).capacity devices.constraints[].distinctAttribute
 DRADeviceTaints devices.requests[].(exactly|firstAvailable[]).tolerations
 DRAPrioritizedList devices.requests[].firstAvailable

resource.k8s.io/v1/DeviceClass
 DRAExtendedResource spec.extendedResourceName

resource.k8s.io/v1/ResourceClaim
 claimSpec at spec
 DRAAdminAccess status.allocation.devices.results[].adminAccess
 DRAConsumableCapacity status.allocation.devices.results[].(shareID|consumedCapacity) status.devices[].shareID
 DRADeviceBindingConditions status.allocation.devices.results[].(bindingConditions|bindingFailureConditions)
 DRADeviceBindingConditions status.allocation.allocationTimestamp
 DRADeviceTaints status.allocation.devices.results[].tolerations
 DRAResourceClaimDeviceStatus status.devices

resource.k8s.io/v1/ResourceClaimTemplate
 claimSpec at spec.spec

resource.k8s.io/v1/ResourceSlice
 DRAConsumableCapacity spec.devices[].(allowMultipleAllocations|capacity{}.requestPolicy)
 DRADeviceBindingConditions spec.devices[].(bindsToNode|bindingConditions|bindingFailureConditions)
 DRADeviceTaints spec.devices[].taints
 DRAListTypeAttributes spec.devices[].attributes{}.(ints|bools|strings|versions)
 DRANodeAllocatableResources spec.devices[].nodeAllocatableResourceMappings
 DRAPartitionableDevices spec.(sharedCounters|perDeviceNodeSelection)
 DRAPartitionableDevices spec.devices[].(consumesCounters|nodeName|nodeSelector|allNodes)

scheduling.k8s.io/v1alpha2/PodGroup
 TopologyAwareWorkloadScheduling spec.schedulingConstraints
 WorkloadAwarePreemption spec.(disruptionMode|priorityClassName|priority)

scheduling.k8s.io/v1alpha2/Workload
 TopologyAwareWorkloadScheduling spec.podGroupTemplates[].schedulingConstraints=null
 WorkloadAwarePreemption spec.podGroupTemplates[].(disruptionMode|priorityClassName|priority)

storage.k8s.io/v1/CSIDriver
 CSIServiceAccountTokenSecrets spec.serviceAccountTokenInSecrets
 MutableCSINodeAllocatableCount spec.nodeAllocatableUpdatePeriodSeconds
 SELinuxMountReadWriteOncePod spec.seLinuxMount
 VolumeLimitScaling spec.preventPodSchedulingIfMissing

storage.k8s.io/v1/VolumeAttachment
 MutableCSINodeAllocatableCount status.(attachError|detachError).errorCode
`;
