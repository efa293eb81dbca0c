/** CertificateSigningRequests: approved, signed, and deleted. */
export { approved, csrApproving, isDecided } from "./approving.ts";
export {
  API_CLIENT,
  type CertificateSigner,
  KUBELET_SERVING,
  type RequestedNames,
  requestBytes,
  type SigningRequest,
  type SignOptions,
} from "./authority.ts";
export { csrCleaner } from "./cleaner.ts";
export { type CsrSigningOptions, csrSigning } from "./signing.ts";
