/** The kubelet's certificates: requested with a bootstrap token, renewed before they expire. */
export {
  type CertificateMetrics,
  clientCertificateMetrics,
  serverCertificateMetrics,
} from "./certificate-metrics.ts";
export { type ChangingTransport, changingTransport } from "./changing-transport.ts";
export {
  CertificateRefusedError,
  type CertificateSpec,
  type IssuedCertificate,
  nodeCertificate,
  requestCertificate,
} from "./request-certificate.ts";
export { isExpired, renewalTime } from "./rotation.ts";
export { keepServingCertificate } from "./serving-certificate.ts";
