/**
 * The kinds that a v1.36 server serves by default, in the order of discovery. Written by hand; README.md explains the
 * lines.
 */
export const kindsTable = `
v1 io.k8s.api.core.v1
Binding bindings namespaced create unstored
ComponentStatus componentstatuses cluster get,list unstored short=cs
ConfigMap configmaps namespaced all short=cm
Endpoints endpoints namespaced all short=ep
Event events namespaced all short=ev
LimitRange limitranges namespaced all short=limits
Namespace namespaces cluster create,delete,get,list,patch,update,watch short=ns
 finalize update
 status
Node nodes cluster all short=no
 proxy create,delete,get,patch,update NodeProxyOptions
 status
PersistentVolumeClaim persistentvolumeclaims namespaced all short=pvc
 status
PersistentVolume persistentvolumes cluster all short=pv
 status
Pod pods namespaced all short=po category=all
 attach create,get PodAttachOptions
 binding create Binding
 ephemeralcontainers
 eviction create policy/v1/Eviction
 exec create,get PodExecOptions
 log get
 portforward create,get PodPortForwardOptions
 proxy create,delete,get,patch,update PodProxyOptions
 resize
 status
PodTemplate podtemplates namespaced all
ReplicationController replicationcontrollers namespaced all short=rc category=all
 scale get,patch,update autoscaling/v1/Scale
 status
ResourceQuota resourcequotas namespaced all short=quota
 status
Secret secrets namespaced all
ServiceAccount serviceaccounts namespaced all short=sa
 token create authentication.k8s.io/v1/TokenRequest
Service services namespaced all short=svc category=all
 proxy create,delete,get,patch,update ServiceProxyOptions
 status

apiregistration.k8s.io/v1 io.k8s.kube-aggregator.pkg.apis.apiregistration.v1
APIService apiservices cluster all category=api-extensions
 status

apps/v1 io.k8s.api.apps.v1
ControllerRevision controllerrevisions namespaced all
DaemonSet daemonsets namespaced all short=ds category=all
 status
Deployment deployments namespaced all short=deploy category=all
 scale get,patch,update autoscaling/v1/Scale
 status
ReplicaSet replicasets namespaced all short=rs category=all
 scale get,patch,update autoscaling/v1/Scale
 status
StatefulSet statefulsets namespaced all short=sts category=all
 scale get,patch,update autoscaling/v1/Scale
 status

events.k8s.io/v1 io.k8s.api.events.v1
Event events namespaced all short=ev stored=v1

authentication.k8s.io/v1 io.k8s.api.authentication.v1
SelfSubjectReview selfsubjectreviews cluster create unstored
TokenReview tokenreviews cluster create unstored

authorization.k8s.io/v1 io.k8s.api.authorization.v1
LocalSubjectAccessReview localsubjectaccessreviews namespaced create unstored
SelfSubjectAccessReview selfsubjectaccessreviews cluster create unstored
SelfSubjectRulesReview selfsubjectrulesreviews cluster create unstored
SubjectAccessReview subjectaccessreviews cluster create unstored

autoscaling/v2 io.k8s.api.autoscaling.v2
HorizontalPodAutoscaler horizontalpodautoscalers namespaced all short=hpa category=all
 status

autoscaling/v1 io.k8s.api.autoscaling.v1
HorizontalPodAutoscaler horizontalpodautoscalers namespaced all short=hpa category=all stored=autoscaling/v2
 status

batch/v1 io.k8s.api.batch.v1
CronJob cronjobs namespaced all short=cj category=all
 status
Job jobs namespaced all category=all
 status

certificates.k8s.io/v1 io.k8s.api.certificates.v1
CertificateSigningRequest certificatesigningrequests cluster all short=csr
 approval
 status

networking.k8s.io/v1 io.k8s.api.networking.v1
IngressClass ingressclasses cluster all
Ingress ingresses namespaced all short=ing
 status
IPAddress ipaddresses cluster all short=ip
NetworkPolicy networkpolicies namespaced all short=netpol
ServiceCIDR servicecidrs cluster all
 status

policy/v1 io.k8s.api.policy.v1
PodDisruptionBudget poddisruptionbudgets namespaced all short=pdb
 status

rbac.authorization.k8s.io/v1 io.k8s.api.rbac.v1
ClusterRoleBinding clusterrolebindings cluster all
ClusterRole clusterroles cluster all
RoleBinding rolebindings namespaced all
Role roles namespaced all

storage.k8s.io/v1 io.k8s.api.storage.v1
CSIDriver csidrivers cluster all
CSINode csinodes cluster all
CSIStorageCapacity csistoragecapacities namespaced all
StorageClass storageclasses cluster all short=sc
VolumeAttachment volumeattachments cluster all
 status
VolumeAttributesClass volumeattributesclasses cluster all short=vac

admissionregistration.k8s.io/v1 io.k8s.api.admissionregistration.v1
MutatingAdmissionPolicy mutatingadmissionpolicies cluster all category=api-extensions stored=admissionregistration.k8s.io/v1beta1
MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings cluster all category=api-extensions stored=admissionregistration.k8s.io/v1beta1
MutatingWebhookConfiguration mutatingwebhookconfigurations cluster all category=api-extensions
ValidatingAdmissionPolicy validatingadmissionpolicies cluster all category=api-extensions
 status
ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings cluster all category=api-extensions
ValidatingWebhookConfiguration validatingwebhookconfigurations cluster all category=api-extensions

apiextensions.k8s.io/v1 io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
CustomResourceDefinition customresourcedefinitions cluster all short=crd,crds category=api-extensions stored=apiextensions.k8s.io/v1beta1
 status

scheduling.k8s.io/v1 io.k8s.api.scheduling.v1
PriorityClass priorityclasses cluster all short=pc

coordination.k8s.io/v1 io.k8s.api.coordination.v1
Lease leases namespaced all

node.k8s.io/v1 io.k8s.api.node.v1
RuntimeClass runtimeclasses cluster all

discovery.k8s.io/v1 io.k8s.api.discovery.v1
EndpointSlice endpointslices namespaced all

resource.k8s.io/v1 io.k8s.api.resource.v1
DeviceClass deviceclasses cluster all
ResourceClaim resourceclaims namespaced all
 status
ResourceClaimTemplate resourceclaimtemplates namespaced all
ResourceSlice resourceslices cluster all

flowcontrol.apiserver.k8s.io/v1 io.k8s.api.flowcontrol.v1
FlowSchema flowschemas cluster all
 status
PriorityLevelConfiguration prioritylevelconfigurations cluster all
 status
`;
