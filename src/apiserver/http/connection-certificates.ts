/**
 * The client certificate of a connection.
 *
 * 1. Read once for each connection, when the first request asks: reading one is not cheap.
 * 2. A TLS session that goes on in another connection keeps the client's certificate, but not those that were sent
 *    along to reach an authority: they are remembered from the connection where the session began.
 */
import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { LruMap } from "#base";
import type { ClientCertificate } from "./client-certificate.ts";

const MAX_CHAINS = 10_000;

export class ConnectionCertificates {
  readonly #known = new WeakMap<TLSSocket, ClientCertificate | "none">();
  /** By the digest of the client's own. */
  readonly #sentAlong = new LruMap<string, readonly X509Certificate[]>(MAX_CHAINS);

  of(socket: TLSSocket): ClientCertificate | undefined {
    let certificate = this.#known.get(socket);
    if (certificate === undefined) {
      certificate = this.#read(socket) ?? "none";
      this.#known.set(socket, certificate);
    }
    return certificate === "none" ? undefined : certificate;
  }

  #read(socket: TLSSocket): ClientCertificate | undefined {
    const leaf = socket.getPeerX509Certificate();
    if (leaf === undefined) return undefined;
    const { fingerprint256 } = leaf;
    const sent = sentAlong(socket);
    if (socket.isSessionReused()) {
      return { leaf, intermediates: this.#sentAlong.get(fingerprint256) ?? sent, verified: socket.authorized };
    }
    // An authority itself may be among them, as TLS has found it; what stands in between is worth remembering.
    if (socket.authorized && sent.some(({ subject, issuer }) => subject !== issuer))
      this.#sentAlong.set(fingerprint256, sent);
    return { leaf, intermediates: sent, verified: socket.authorized };
  }
}

function sentAlong(socket: TLSSocket): readonly X509Certificate[] {
  const found: X509Certificate[] = [];
  // The last one is its own issuer, or has none.
  let below: DetailedPeerCertificate | undefined;
  let current: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true).issuerCertificate;
  while (current !== undefined && current !== below) {
    found.push(new X509Certificate(current.raw));
    below = current;
    current = current.issuerCertificate;
  }
  return found;
}
