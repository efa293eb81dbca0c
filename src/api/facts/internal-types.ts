/**
 * The internal Go types of Kubernetes, where they differ from the types of the API: their fields by the names in JSON,
 * in Go's order. Written by hand from the documented structure; all other types have the fields of the API's types.
 *
 * `name!` is a plain value where the API has a pointer; `name<a,b` begins with a and b, which the API has beside it.
 */
const texts: Readonly<Record<string, string>> = {
  "apps.v1.DeploymentSpec":
    "replicas! selector template strategy minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds",
  "apps.v1.ReplicaSetSpec": "replicas! minReadySeconds selector template",
  "apps.v1.RollingUpdateDaemonSet": "maxUnavailable! maxSurge!",
  "apps.v1.RollingUpdateDeployment": "maxUnavailable! maxSurge!",
  "apps.v1.RollingUpdateStatefulSetStrategy": "partition! maxUnavailable",
  "apps.v1.StatefulSetSpec": `
    replicas! selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy revisionHistoryLimit minReadySeconds
    persistentVolumeClaimRetentionPolicy ordinals`,
  "core.v1.NodeSpec": "podCIDRs providerID unschedulable taints configSource externalID",
  "core.v1.PersistentVolumeSource": `
    gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker azureFile
    vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi`,
  "core.v1.PersistentVolumeSpec": `
    capacity gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker
    azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi accessModes claimRef
    persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity volumeAttributesClassName`,
  "core.v1.PodSecurityContext": `
    seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot
    supplementalGroups supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile
    seLinuxChangePolicy`,
  "core.v1.PodSpec": `
    volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy
    nodeSelector serviceAccountName automountServiceAccountToken nodeName securityContext!<hostNetwork,hostPID,hostIPC,shareProcessNamespace,hostUsers imagePullSecrets hostname subdomain
    setHostnameAsFQDN affinity schedulerName tolerations hostAliases priorityClassName priority preemptionPolicy dnsConfig
    readinessGates runtimeClassName overhead enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources
    hostnameOverride schedulingGroup`,
  "core.v1.ServiceAccountTokenProjection": "audience expirationSeconds! path",
  "core.v1.ServiceSpec": `
    type ports selector clusterIP clusterIPs ipFamilies ipFamilyPolicy externalName externalIPs loadBalancerIP sessionAffinity
    sessionAffinityConfig loadBalancerSourceRanges externalTrafficPolicy healthCheckNodePort publishNotReadyAddresses
    allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution`,
  "core.v1.Volume": `
    name hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd quobyte
    flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume azureDisk photonPersistentDisk projected
    portworxVolume scaleIO storageos csi ephemeral image`,
  "flowcontrol.v1.LimitedPriorityLevelConfiguration":
    "nominalConcurrencyShares! limitResponse lendablePercent borrowingLimitPercent",
};

export interface InternalField {
  readonly name: string;
  /** Not a pointer, though the API has one. */
  readonly plain: boolean;
  /** Fields that the API has beside it, and the internal type inside, before its own. */
  readonly moved: readonly string[];
}

/** `type` is the full name of a type of the API; nothing where the internal type has the same fields. */
export function internalFields(type: string): readonly InternalField[] | undefined {
  const text = texts[type.replace("io.k8s.api.", "")];
  return text
    ?.trim()
    .split(/\s+/)
    .map((word) => {
      const [own = "", moved] = word.split("<");
      return { name: own.replace("!", ""), plain: own.endsWith("!"), moved: moved?.split(",") ?? [] };
    });
}
