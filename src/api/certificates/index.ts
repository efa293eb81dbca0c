/** The public surface of certificates.k8s.io. */
import { sameVersion } from "../definition/other-version.ts";
import type { Kind } from "../machinery/kind.ts";
import { CertificateSigningRequest } from "./certificate-signing-request.ts";
import { ClusterTrustBundle } from "./cluster-trust-bundle.ts";
import { PodCertificateRequest } from "./pod-certificate-request.ts";

export { ClusterTrustBundle, PodCertificateRequest };

export const certificatesKinds: readonly Kind[] = [
  CertificateSigningRequest,
  ClusterTrustBundle,
  PodCertificateRequest,
  sameVersion("certificates.k8s.io/v1alpha1", ClusterTrustBundle),
];
