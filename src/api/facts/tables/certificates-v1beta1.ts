/** Written by scripts/api-facts.ts from k8s.io/api/certificates/v1beta1 0.36.4: not to be edited. */
export const certificatesV1beta1 = `
package io.k8s.api.certificates.v1beta1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

alias KeyUsage string
alias RequestConditionType string

CertificateSigningRequest
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! CertificateSigningRequestSpec
 3 status? CertificateSigningRequestStatus

CertificateSigningRequestCondition
 1 type! RequestConditionType
 6 status core.ConditionStatus
 2 reason? string
 3 message? string
 4 lastUpdateTime? time
 5 lastTransitionTime? time

CertificateSigningRequestList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []CertificateSigningRequest

CertificateSigningRequestSpec
 1 request! bytes
 7 signerName? *string
 8 expirationSeconds? *int32
 5 usages? []KeyUsage list=atomic
 2 username? string
 3 uid? string go=UID
 4 groups? []string list=atomic
 6 extra? {}ExtraValue

CertificateSigningRequestStatus
 1 conditions? []CertificateSigningRequestCondition list=map:type
 2 certificate? bytes

ClusterTrustBundle
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! ClusterTrustBundleSpec

ClusterTrustBundleList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ClusterTrustBundle

ClusterTrustBundleSpec
 1 signerName? string
 2 trustBundle! string

ExtraValue list string

PodCertificateRequest
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! PodCertificateRequestSpec
 3 status? PodCertificateRequestStatus

PodCertificateRequestList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PodCertificateRequest

PodCertificateRequestSpec
 1 signerName! string
 2 podName! string
 3 podUID! types.UID
 4 serviceAccountName! string
 5 serviceAccountUID! types.UID
 6 nodeName! types.NodeName
 7 nodeUID! types.UID
 8 maxExpirationSeconds? *int32 =86400
 9 pkixPublicKey bytes go=PKIXPublicKey
 10 proofOfPossession bytes
 12 stubPKCS10Request! bytes
 11 unverifiedUserAnnotations? {}string

PodCertificateRequestStatus
 1 conditions? []meta.Condition list=map:type patch=merge:type
 2 certificateChain? string
 4 notBefore? *time
 5 beginRefreshAt? *time
 6 notAfter? *time
`;
