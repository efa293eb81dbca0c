import type { X509Certificate } from "node:crypto";

/** The client certificate of a TLS handshake. */
export interface ClientCertificate {
  readonly leaf: X509Certificate;
  /** Sent by the client, to complete the chain to an authority. */
  readonly intermediates: readonly X509Certificate[];
  /** Whether TLS verified it with any of the configured authorities. */
  readonly verified: boolean;
}
