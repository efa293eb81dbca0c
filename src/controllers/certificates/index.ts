/** CertificateSigningRequests: approved, signed, and deleted. */
export { csrApproving } from "./approving.ts";
export type { CertificateSigner, RequestedNames, SignOptions } from "./authority.ts";
export { csrCleaner } from "./cleaner.ts";
export { type CsrSigningOptions, csrSigning } from "./signing.ts";
