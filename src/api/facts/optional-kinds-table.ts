/**
 * The kinds that a v1.36 server serves only where `--runtime-config` asks for them, in the order of discovery. Written
 * by hand; README.md explains the lines.
 */
export const optionalKindsTable = `
certificates.k8s.io/v1beta1 io.k8s.api.certificates.v1beta1
ClusterTrustBundle clustertrustbundles cluster all gate=ClusterTrustBundle since=1.33 deprecated=1.37 removed=1.40
PodCertificateRequest podcertificaterequests namespaced all gate=PodCertificateRequest since=1.35 deprecated=1.38 removed=1.41
 status

certificates.k8s.io/v1alpha1 io.k8s.api.certificates.v1alpha1
ClusterTrustBundle clustertrustbundles cluster all gate=ClusterTrustBundle stored=certificates.k8s.io/v1beta1 since=1.26 deprecated=1.34 removed=1.37

networking.k8s.io/v1beta1 io.k8s.api.networking.v1beta1
IPAddress ipaddresses cluster all short=ip stored=networking.k8s.io/v1 since=1.31 deprecated=1.34 removed=1.37
ServiceCIDR servicecidrs cluster all stored=networking.k8s.io/v1 since=1.31 deprecated=1.34 removed=1.37
 status

storage.k8s.io/v1beta1 io.k8s.api.storage.v1beta1
VolumeAttributesClass volumeattributesclasses cluster all short=vac stored=storage.k8s.io/v1 since=1.31 deprecated=1.34 removed=1.37 use=storage.k8s.io/v1/VolumeAttributesClass

admissionregistration.k8s.io/v1beta1 io.k8s.api.admissionregistration.v1beta1
MutatingAdmissionPolicy mutatingadmissionpolicies cluster all category=api-extensions since=1.34 deprecated=1.37 removed=1.40 use=admissionregistration.k8s.io/v1/MutatingAdmissionPolicy
MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings cluster all category=api-extensions since=1.34 deprecated=1.37 removed=1.40 use=admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding

admissionregistration.k8s.io/v1alpha1 io.k8s.api.admissionregistration.v1alpha1
MutatingAdmissionPolicy mutatingadmissionpolicies cluster all category=api-extensions stored=admissionregistration.k8s.io/v1beta1 since=1.32 deprecated=1.35 removed=1.38
MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings cluster all category=api-extensions stored=admissionregistration.k8s.io/v1beta1 since=1.32 deprecated=1.35 removed=1.38

scheduling.k8s.io/v1alpha2 io.k8s.api.scheduling.v1alpha2
PodGroup podgroups namespaced all gate=GenericWorkload
 status
Workload workloads namespaced all gate=GenericWorkload

coordination.k8s.io/v1beta1 io.k8s.api.coordination.v1beta1
LeaseCandidate leasecandidates namespaced all since=1.33 deprecated=1.36 removed=1.39

coordination.k8s.io/v1alpha2 io.k8s.api.coordination.v1alpha2
LeaseCandidate leasecandidates namespaced all stored=coordination.k8s.io/v1beta1 since=1.32 deprecated=1.35 removed=1.38

resource.k8s.io/v1beta2 io.k8s.api.resource.v1beta2
DeviceClass deviceclasses cluster all stored=resource.k8s.io/v1 since=1.33 deprecated=1.36 removed=1.39
DeviceTaintRule devicetaintrules cluster all stored=resource.k8s.io/v1alpha3 since=1.36 deprecated=1.39 removed=1.42
 status
ResourceClaim resourceclaims namespaced all stored=resource.k8s.io/v1 since=1.33 deprecated=1.36 removed=1.39
 status
ResourceClaimTemplate resourceclaimtemplates namespaced all stored=resource.k8s.io/v1 since=1.33 deprecated=1.36 removed=1.39
ResourceSlice resourceslices cluster all stored=resource.k8s.io/v1 since=1.33 deprecated=1.36 removed=1.39

resource.k8s.io/v1beta1 io.k8s.api.resource.v1beta1
DeviceClass deviceclasses cluster all stored=resource.k8s.io/v1 since=1.32 deprecated=1.35 removed=1.38
ResourceClaim resourceclaims namespaced all stored=resource.k8s.io/v1 since=1.32 deprecated=1.35 removed=1.38
 status
ResourceClaimTemplate resourceclaimtemplates namespaced all stored=resource.k8s.io/v1 since=1.32 deprecated=1.35 removed=1.38
ResourceSlice resourceslices cluster all stored=resource.k8s.io/v1 since=1.32 deprecated=1.35 removed=1.38

resource.k8s.io/v1alpha3 io.k8s.api.resource.v1alpha3
DeviceTaintRule devicetaintrules cluster all since=1.33 deprecated=1.36 removed=1.39
 status
ResourcePoolStatusRequest resourcepoolstatusrequests cluster all gate=DRAResourcePoolStatus since=1.36 deprecated=1.39 removed=1.42
 status

internal.apiserver.k8s.io/v1alpha1 io.k8s.api.apiserverinternal.v1alpha1
StorageVersion storageversions cluster all
 status

storagemigration.k8s.io/v1beta1 io.k8s.api.storagemigration.v1beta1
StorageVersionMigration storageversionmigrations cluster all gate=StorageVersionMigrator since=1.35 deprecated=1.38 removed=1.41
 status
`;
