/**
 * TLS to endpoints: which name is asked for, which authorities count, and which names the certificate has to show.
 *
 * 1. Names of the policy replace the name that is asked for: one of them has to be in the certificate.
 */
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from "node:tls";

export interface BackendTls {
  /** Two policies with one id are the same. */
  readonly id: string;
  readonly serverName: string;
  /** PEM; undefined: the authorities that the system trusts. */
  readonly ca: string | undefined;
  /** `DNS:name` or `URI:uri`, one of which has to be in the certificate. Empty: the server name has to be. */
  readonly names: readonly string[];
}

export function tlsOptions({ serverName, ca, names }: BackendTls): ConnectionOptions {
  return {
    ...{ servername: serverName, ca, minVersion: "TLSv1.2" as const },
    checkServerIdentity: (_, certificate) => identityProblem(serverName, names, certificate),
  };
}

function identityProblem(serverName: string, names: readonly string[], shown: PeerCertificate): Error | undefined {
  if (names.length === 0) return checkServerIdentity(serverName, shown);
  const uris = new Set((shown.subjectaltname ?? "").split(/, ?/));
  const isShown = names.some((name) =>
    name.startsWith("URI:") ? uris.has(name) : checkServerIdentity(name.slice("DNS:".length), shown) === undefined,
  );
  return isShown ? undefined : new Error(`the certificate has none of ${names.join(", ")}`);
}
