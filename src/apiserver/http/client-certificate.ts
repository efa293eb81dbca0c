import type { X509Certificate } from "node:crypto";

/** What a client has shown during the TLS handshake. */
export interface ClientCertificate {
  readonly leaf: X509Certificate;
  /** Sent along, to fill the path up to an authority. */
  readonly intermediates: readonly X509Certificate[];
  /** Whether TLS could verify it by any of the authorities that it knows. */
  readonly verified: boolean;
}
