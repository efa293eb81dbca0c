/** Written by scripts/api-facts.ts from k8s.io/api/certificates/v1alpha1 0.36.4: not to be edited. */
export const certificatesV1alpha1 = `
package io.k8s.api.certificates.v1alpha1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

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
`;
