/** A PKCS#10 request with this subject, in base64 of PEM. */
import { makeSigningRequest } from "#pki";

export function certificateRequest(commonName: string, ...organizations: readonly string[]): string {
  return Buffer.from(makeSigningRequest({ commonName, organizations }).pem).toString("base64");
}
