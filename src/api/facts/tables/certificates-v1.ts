/** Written by scripts/api-facts.ts from k8s.io/api/certificates/v1 0.36.4: not to be edited. */
export const certificatesV1 = `
package io.k8s.api.certificates.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum KeyUsage any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping
alias RequestConditionType string

CertificateSigningRequest
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! CertificateSigningRequestSpec
 3 status? CertificateSigningRequestStatus

CertificateSigningRequestCondition
 1 type! RequestConditionType
 6 status! core.ConditionStatus
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
 7 signerName! string
 8 expirationSeconds? *int32
 5 usages? []KeyUsage list=atomic
 2 username? string
 3 uid? string go=UID
 4 groups? []string list=atomic
 6 extra? {}ExtraValue

CertificateSigningRequestStatus
 1 conditions? []CertificateSigningRequestCondition list=map:type
 2 certificate? bytes

ExtraValue list string
`;
