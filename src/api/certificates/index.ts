/** The public surface of certificates.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { CertificateSigningRequest } from "./certificate-signing-request.ts";

export const certificatesKinds: readonly Kind[] = [CertificateSigningRequest];
