/**
 * The Go types in a Pod template (k8s.io/api 0.36): their fields in declaration order, with their types.
 *
 *     type field field …      field = json:type, or json=Go:type if Go's name is not the capitalized JSON name
 *                             +type embeds a struct whose fields JSON inlines
 *
 * Named types that are not listed are strings.
 */
import { table } from "#base";
export const goShapes = `
v1.AWSElasticBlockStoreVolumeSource volumeID:string fsType=FSType:string partition:int32 readOnly:bool
v1.Affinity nodeAffinity:*v1.NodeAffinity podAffinity:*v1.PodAffinity podAntiAffinity:*v1.PodAntiAffinity
v1.AppArmorProfile type:v1.AppArmorProfileType localhostProfile:*string
v1.AzureDiskVolumeSource diskName:string diskURI=DataDiskURI:string cachingMode:*v1.AzureDataDiskCachingMode fsType=FSType:*string readOnly:*bool kind:*v1.AzureDataDiskKind
v1.AzureFileVolumeSource secretName:string shareName:string readOnly:bool
v1.CSIVolumeSource driver:string readOnly:*bool fsType=FSType:*string volumeAttributes:map[string]string nodePublishSecretRef:*v1.LocalObjectReference
v1.Capabilities add:[]v1.Capability drop:[]v1.Capability
v1.CephFSVolumeSource monitors:[]string path:string user:string secretFile:string secretRef:*v1.LocalObjectReference readOnly:bool
v1.CinderVolumeSource volumeID:string fsType=FSType:string readOnly:bool secretRef:*v1.LocalObjectReference
v1.ClusterTrustBundleProjection name:*string signerName:*string labelSelector:*v1.LabelSelector optional:*bool path:string
v1.ConfigMapEnvSource +v1.LocalObjectReference optional:*bool
v1.ConfigMapKeySelector +v1.LocalObjectReference key:string optional:*bool
v1.ConfigMapProjection +v1.LocalObjectReference items:[]v1.KeyToPath optional:*bool
v1.ConfigMapVolumeSource +v1.LocalObjectReference items:[]v1.KeyToPath defaultMode:*int32 optional:*bool
v1.Container name:string image:string command:[]string args:[]string workingDir:string ports:[]v1.ContainerPort envFrom:[]v1.EnvFromSource env:[]v1.EnvVar resources:v1.ResourceRequirements resizePolicy:[]v1.ContainerResizePolicy restartPolicy:*v1.ContainerRestartPolicy restartPolicyRules:[]v1.ContainerRestartRule volumeMounts:[]v1.VolumeMount volumeDevices:[]v1.VolumeDevice livenessProbe:*v1.Probe readinessProbe:*v1.Probe startupProbe:*v1.Probe lifecycle:*v1.Lifecycle terminationMessagePath:string terminationMessagePolicy:v1.TerminationMessagePolicy imagePullPolicy:v1.PullPolicy securityContext:*v1.SecurityContext stdin:bool stdinOnce:bool tty=TTY:bool
v1.ContainerPort name:string hostPort:int32 containerPort:int32 protocol:v1.Protocol hostIP:string
v1.ContainerResizePolicy resourceName:v1.ResourceName restartPolicy:v1.ResourceResizeRestartPolicy
v1.ContainerRestartRule action:v1.ContainerRestartRuleAction exitCodes:*v1.ContainerRestartRuleOnExitCodes
v1.ContainerRestartRuleOnExitCodes operator:v1.ContainerRestartRuleOnExitCodesOperator values:[]int32
v1.DownwardAPIProjection items:[]v1.DownwardAPIVolumeFile
v1.DownwardAPIVolumeFile path:string fieldRef:*v1.ObjectFieldSelector resourceFieldRef:*v1.ResourceFieldSelector mode:*int32
v1.DownwardAPIVolumeSource items:[]v1.DownwardAPIVolumeFile defaultMode:*int32
v1.EmptyDirVolumeSource medium:v1.StorageMedium sizeLimit:*resource.Quantity
v1.EnvFromSource prefix:string configMapRef:*v1.ConfigMapEnvSource secretRef:*v1.SecretEnvSource
v1.EnvVar name:string value:string valueFrom:*v1.EnvVarSource
v1.EnvVarSource fieldRef:*v1.ObjectFieldSelector resourceFieldRef:*v1.ResourceFieldSelector configMapKeyRef:*v1.ConfigMapKeySelector secretKeyRef:*v1.SecretKeySelector fileKeyRef:*v1.FileKeySelector
v1.EphemeralContainer +v1.EphemeralContainerCommon targetContainerName:string
v1.EphemeralContainerCommon name:string image:string command:[]string args:[]string workingDir:string ports:[]v1.ContainerPort envFrom:[]v1.EnvFromSource env:[]v1.EnvVar resources:v1.ResourceRequirements resizePolicy:[]v1.ContainerResizePolicy restartPolicy:*v1.ContainerRestartPolicy restartPolicyRules:[]v1.ContainerRestartRule volumeMounts:[]v1.VolumeMount volumeDevices:[]v1.VolumeDevice livenessProbe:*v1.Probe readinessProbe:*v1.Probe startupProbe:*v1.Probe lifecycle:*v1.Lifecycle terminationMessagePath:string terminationMessagePolicy:v1.TerminationMessagePolicy imagePullPolicy:v1.PullPolicy securityContext:*v1.SecurityContext stdin:bool stdinOnce:bool tty=TTY:bool
v1.EphemeralVolumeSource volumeClaimTemplate:*v1.PersistentVolumeClaimTemplate
v1.ExecAction command:[]string
v1.FCVolumeSource targetWWNs:[]string lun:*int32 fsType=FSType:string readOnly:bool wwids=WWIDs:[]string
v1.FileKeySelector volumeName:string path:string key:string optional:*bool
v1.FlexVolumeSource driver:string fsType=FSType:string secretRef:*v1.LocalObjectReference readOnly:bool options:map[string]string
v1.FlockerVolumeSource datasetName:string datasetUUID:string
v1.GCEPersistentDiskVolumeSource pdName=PDName:string fsType=FSType:string partition:int32 readOnly:bool
v1.GRPCAction port:int32 service:*string
v1.GitRepoVolumeSource repository:string revision:string directory:string
v1.GlusterfsVolumeSource endpoints=EndpointsName:string path:string readOnly:bool
v1.HTTPGetAction path:string port:intstr.IntOrString host:string scheme:v1.URIScheme httpHeaders=HTTPHeaders:[]v1.HTTPHeader
v1.HTTPHeader name:string value:string
v1.HostAlias ip=IP:string hostnames:[]string
v1.HostPathVolumeSource path:string type:*v1.HostPathType
v1.ISCSIVolumeSource targetPortal:string iqn=IQN:string lun:int32 iscsiInterface=ISCSIInterface:string fsType=FSType:string readOnly:bool portals:[]string chapAuthDiscovery=DiscoveryCHAPAuth:bool chapAuthSession=SessionCHAPAuth:bool secretRef:*v1.LocalObjectReference initiatorName:*string
v1.ImageVolumeSource reference:string pullPolicy:v1.PullPolicy
v1.KeyToPath key:string path:string mode:*int32
v1.LabelSelector matchLabels:map[string]string matchExpressions:[]v1.LabelSelectorRequirement
v1.LabelSelectorRequirement key:string operator:v1.LabelSelectorOperator values:[]string
v1.Lifecycle postStart:*v1.LifecycleHandler preStop:*v1.LifecycleHandler stopSignal:*v1.Signal
v1.LifecycleHandler exec:*v1.ExecAction httpGet=HTTPGet:*v1.HTTPGetAction tcpSocket=TCPSocket:*v1.TCPSocketAction sleep:*v1.SleepAction
v1.LocalObjectReference name:string
v1.NFSVolumeSource server:string path:string readOnly:bool
v1.NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:*v1.NodeSelector preferredDuringSchedulingIgnoredDuringExecution:[]v1.PreferredSchedulingTerm
v1.NodeSelector nodeSelectorTerms:[]v1.NodeSelectorTerm
v1.NodeSelectorRequirement key:string operator:v1.NodeSelectorOperator values:[]string
v1.NodeSelectorTerm matchExpressions:[]v1.NodeSelectorRequirement matchFields:[]v1.NodeSelectorRequirement
v1.ObjectFieldSelector apiVersion=APIVersion:string fieldPath:string
v1.ObjectMeta name:string generateName:string namespace:string selfLink:string uid=UID:types.UID resourceVersion:string generation:int64 creationTimestamp:v1.Time deletionTimestamp:*v1.Time deletionGracePeriodSeconds:*int64 labels:map[string]string annotations:map[string]string ownerReferences:[]v1.OwnerReference finalizers:[]string managedFields:[]v1.ManagedFieldsEntry
v1.OwnerReference apiVersion=APIVersion:string kind:string name:string uid=UID:types.UID controller:*bool blockOwnerDeletion:*bool
v1.PersistentVolumeClaimSpec accessModes:[]v1.PersistentVolumeAccessMode selector:*v1.LabelSelector resources:v1.VolumeResourceRequirements volumeName:string storageClassName:*string volumeMode:*v1.PersistentVolumeMode dataSource:*v1.TypedLocalObjectReference dataSourceRef:*v1.TypedObjectReference volumeAttributesClassName:*string
v1.PersistentVolumeClaimTemplate metadata=ObjectMeta:v1.ObjectMeta spec:v1.PersistentVolumeClaimSpec
v1.PersistentVolumeClaimVolumeSource claimName:string readOnly:bool
v1.PhotonPersistentDiskVolumeSource pdID:string fsType=FSType:string
v1.PodAffinity requiredDuringSchedulingIgnoredDuringExecution:[]v1.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution:[]v1.WeightedPodAffinityTerm
v1.PodAffinityTerm labelSelector:*v1.LabelSelector namespaces:[]string topologyKey:string namespaceSelector:*v1.LabelSelector matchLabelKeys:[]string mismatchLabelKeys:[]string
v1.PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:[]v1.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution:[]v1.WeightedPodAffinityTerm
v1.PodCertificateProjection signerName:string keyType:string maxExpirationSeconds:*int32 credentialBundlePath:string keyPath:string certificateChainPath:string userAnnotations:map[string]string
v1.PodDNSConfig nameservers:[]string searches:[]string options:[]v1.PodDNSConfigOption
v1.PodDNSConfigOption name:string value:*string
v1.PodOS name:v1.OSName
v1.PodReadinessGate conditionType:v1.PodConditionType
v1.PodResourceClaim name:string resourceClaimName:*string resourceClaimTemplateName:*string
v1.PodSchedulingGate name:string
v1.PodSchedulingGroup podGroupName:*string
v1.PodSecurityContext seLinuxOptions=SELinuxOptions:*v1.SELinuxOptions windowsOptions:*v1.WindowsSecurityContextOptions runAsUser:*int64 runAsGroup:*int64 runAsNonRoot:*bool supplementalGroups:[]int64 supplementalGroupsPolicy:*v1.SupplementalGroupsPolicy fsGroup=FSGroup:*int64 sysctls:[]v1.Sysctl fsGroupChangePolicy=FSGroupChangePolicy:*v1.PodFSGroupChangePolicy seccompProfile:*v1.SeccompProfile appArmorProfile:*v1.AppArmorProfile seLinuxChangePolicy=SELinuxChangePolicy:*v1.PodSELinuxChangePolicy
v1.PodSpec volumes:[]v1.Volume initContainers:[]v1.Container containers:[]v1.Container ephemeralContainers:[]v1.EphemeralContainer restartPolicy:v1.RestartPolicy terminationGracePeriodSeconds:*int64 activeDeadlineSeconds:*int64 dnsPolicy=DNSPolicy:v1.DNSPolicy nodeSelector:map[string]string serviceAccountName:string serviceAccount=DeprecatedServiceAccount:string automountServiceAccountToken:*bool nodeName:string hostNetwork:bool hostPID:bool hostIPC:bool shareProcessNamespace:*bool securityContext:*v1.PodSecurityContext imagePullSecrets:[]v1.LocalObjectReference hostname:string subdomain:string affinity:*v1.Affinity schedulerName:string tolerations:[]v1.Toleration hostAliases:[]v1.HostAlias priorityClassName:string priority:*int32 dnsConfig=DNSConfig:*v1.PodDNSConfig readinessGates:[]v1.PodReadinessGate runtimeClassName:*string enableServiceLinks:*bool preemptionPolicy:*v1.PreemptionPolicy overhead:v1.ResourceList topologySpreadConstraints:[]v1.TopologySpreadConstraint setHostnameAsFQDN:*bool os=OS:*v1.PodOS hostUsers:*bool schedulingGates:[]v1.PodSchedulingGate resourceClaims:[]v1.PodResourceClaim resources:*v1.ResourceRequirements hostnameOverride:*string schedulingGroup:*v1.PodSchedulingGroup
v1.PodTemplateSpec metadata=ObjectMeta:v1.ObjectMeta spec:v1.PodSpec
v1.PortworxVolumeSource volumeID:string fsType=FSType:string readOnly:bool
v1.PreferredSchedulingTerm weight:int32 preference:v1.NodeSelectorTerm
v1.Probe +v1.ProbeHandler initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32 failureThreshold:int32 terminationGracePeriodSeconds:*int64
v1.ProbeHandler exec:*v1.ExecAction httpGet=HTTPGet:*v1.HTTPGetAction tcpSocket=TCPSocket:*v1.TCPSocketAction grpc=GRPC:*v1.GRPCAction
v1.ProjectedVolumeSource sources:[]v1.VolumeProjection defaultMode:*int32
v1.QuobyteVolumeSource registry:string volume:string readOnly:bool user:string group:string tenant:string
v1.RBDVolumeSource monitors=CephMonitors:[]string image=RBDImage:string fsType=FSType:string pool=RBDPool:string user=RadosUser:string keyring:string secretRef:*v1.LocalObjectReference readOnly:bool
v1.ResourceClaim name:string request:string
v1.ResourceFieldSelector containerName:string resource:string divisor:resource.Quantity
v1.ResourceRequirements limits:v1.ResourceList requests:v1.ResourceList claims:[]v1.ResourceClaim
v1.SELinuxOptions user:string role:string type:string level:string
v1.ScaleIOVolumeSource gateway:string system:string secretRef:*v1.LocalObjectReference sslEnabled=SSLEnabled:bool protectionDomain:string storagePool:string storageMode:string volumeName:string fsType=FSType:string readOnly:bool
v1.SeccompProfile type:v1.SeccompProfileType localhostProfile:*string
v1.SecretEnvSource +v1.LocalObjectReference optional:*bool
v1.SecretKeySelector +v1.LocalObjectReference key:string optional:*bool
v1.SecretProjection +v1.LocalObjectReference items:[]v1.KeyToPath optional:*bool
v1.SecretVolumeSource secretName:string items:[]v1.KeyToPath defaultMode:*int32 optional:*bool
v1.SecurityContext capabilities:*v1.Capabilities privileged:*bool seLinuxOptions=SELinuxOptions:*v1.SELinuxOptions windowsOptions:*v1.WindowsSecurityContextOptions runAsUser:*int64 runAsGroup:*int64 runAsNonRoot:*bool readOnlyRootFilesystem:*bool allowPrivilegeEscalation:*bool procMount:*v1.ProcMountType seccompProfile:*v1.SeccompProfile appArmorProfile:*v1.AppArmorProfile
v1.ServiceAccountTokenProjection audience:string expirationSeconds:*int64 path:string
v1.SleepAction seconds:int64
v1.StorageOSVolumeSource volumeName:string volumeNamespace:string fsType=FSType:string readOnly:bool secretRef:*v1.LocalObjectReference
v1.Sysctl name:string value:string
v1.TCPSocketAction port:intstr.IntOrString host:string
v1.Toleration key:string operator:v1.TolerationOperator value:string effect:v1.TaintEffect tolerationSeconds:*int64
v1.TopologySpreadConstraint maxSkew:int32 topologyKey:string whenUnsatisfiable:v1.UnsatisfiableConstraintAction labelSelector:*v1.LabelSelector minDomains:*int32 nodeAffinityPolicy:*v1.NodeInclusionPolicy nodeTaintsPolicy:*v1.NodeInclusionPolicy matchLabelKeys:[]string
v1.TypedLocalObjectReference apiGroup=APIGroup:*string kind:string name:string
v1.TypedObjectReference apiGroup=APIGroup:*string kind:string name:string namespace:*string
v1.Volume name:string +v1.VolumeSource
v1.VolumeDevice name:string devicePath:string
v1.VolumeMount name:string readOnly:bool recursiveReadOnly:*v1.RecursiveReadOnlyMode mountPath:string subPath:string mountPropagation:*v1.MountPropagationMode subPathExpr:string
v1.VolumeProjection secret:*v1.SecretProjection downwardAPI:*v1.DownwardAPIProjection configMap:*v1.ConfigMapProjection serviceAccountToken:*v1.ServiceAccountTokenProjection clusterTrustBundle:*v1.ClusterTrustBundleProjection podCertificate:*v1.PodCertificateProjection
v1.VolumeResourceRequirements limits:v1.ResourceList requests:v1.ResourceList
v1.VolumeSource hostPath:*v1.HostPathVolumeSource emptyDir:*v1.EmptyDirVolumeSource gcePersistentDisk=GCEPersistentDisk:*v1.GCEPersistentDiskVolumeSource awsElasticBlockStore=AWSElasticBlockStore:*v1.AWSElasticBlockStoreVolumeSource gitRepo:*v1.GitRepoVolumeSource secret:*v1.SecretVolumeSource nfs=NFS:*v1.NFSVolumeSource iscsi=ISCSI:*v1.ISCSIVolumeSource glusterfs:*v1.GlusterfsVolumeSource persistentVolumeClaim:*v1.PersistentVolumeClaimVolumeSource rbd=RBD:*v1.RBDVolumeSource flexVolume:*v1.FlexVolumeSource cinder:*v1.CinderVolumeSource cephfs=CephFS:*v1.CephFSVolumeSource flocker:*v1.FlockerVolumeSource downwardAPI:*v1.DownwardAPIVolumeSource fc=FC:*v1.FCVolumeSource azureFile:*v1.AzureFileVolumeSource configMap:*v1.ConfigMapVolumeSource vsphereVolume:*v1.VsphereVirtualDiskVolumeSource quobyte:*v1.QuobyteVolumeSource azureDisk:*v1.AzureDiskVolumeSource photonPersistentDisk:*v1.PhotonPersistentDiskVolumeSource projected:*v1.ProjectedVolumeSource portworxVolume:*v1.PortworxVolumeSource scaleIO:*v1.ScaleIOVolumeSource storageos=StorageOS:*v1.StorageOSVolumeSource csi=CSI:*v1.CSIVolumeSource ephemeral:*v1.EphemeralVolumeSource image:*v1.ImageVolumeSource
v1.VsphereVirtualDiskVolumeSource volumePath:string fsType=FSType:string storagePolicyName:string storagePolicyID:string
v1.WeightedPodAffinityTerm weight:int32 podAffinityTerm:v1.PodAffinityTerm
v1.WindowsSecurityContextOptions gmsaCredentialSpecName=GMSACredentialSpecName:*string gmsaCredentialSpec=GMSACredentialSpec:*string runAsUserName:*string hostProcess:*bool
`;

/** Named types that are neither structs nor strings. */
export const goNamedTypes: Readonly<Record<string, string>> = table({
  "v1.ResourceList": "map[v1.ResourceName]resource.Quantity",
});
