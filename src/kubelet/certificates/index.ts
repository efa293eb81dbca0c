/** The kubelet's own certificates: asked for with a bootstrap token, and renewed before they end. */
export { type ChangingTransport, changingTransport } from "./changing-transport.ts";
export { CertificateRefusedError, type IssuedCertificate, requestCertificate } from "./request-certificate.ts";
export { isExpired, renewalTime } from "./rotation.ts";
export { keepServingCertificate } from "./serving-certificate.ts";
