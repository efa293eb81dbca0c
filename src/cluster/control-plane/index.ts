/** The public surface of this room. */
export { isCertificateKey, newCertificateKey } from "./certificate-key.ts";
export { type ControlPlaneRequest, joinControlPlane } from "./join-control-plane.ts";
export { keepEtcdPublished, publishEtcd, type UploadOptions, uploadCerts } from "./upload-certs.ts";
