/** Whom a connection's client certificate stands for. Looked at once for each connection: reading a certificate is not cheap. */
import type { TLSSocket } from "node:tls";
import { AUTHENTICATED, type UserInfo } from "../authn/user.ts";

export class CertificateUsers {
  readonly #known = new WeakMap<object, UserInfo | "none">();

  /** `connection`: what all requests of one connection have in common. */
  of(connection: object, socketOf: () => TLSSocket): UserInfo | undefined {
    let user = this.#known.get(connection);
    if (user === undefined) {
      user = readCertificate(socketOf()) ?? "none";
      this.#known.set(connection, user);
    }
    return user === "none" ? undefined : user;
  }
}

function readCertificate(socket: TLSSocket): UserInfo | undefined {
  if (!socket.authorized) return undefined;
  const subject = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] } | undefined;
  if (subject?.CN === undefined) return undefined;
  const groups = subject.O === undefined ? [] : Array.isArray(subject.O) ? subject.O : [subject.O];
  return { name: subject.CN, groups: [...new Set([...groups, AUTHENTICATED])] };
}
