/** Why a connection to an extension server failed, in the words in which Go says it. */
import { dialError } from "../outbound/dial-error.ts";

const UNKNOWN_AUTHORITY = "certificate signed by unknown authority";
const EXPIRED = "certificate has expired or is not yet valid";

const FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: EXPIRED,
  CERT_NOT_YET_VALID: EXPIRED,
};

export function wordsOf(error: Error, host: string, port: number): string {
  const code = "code" in error ? String(error.code) : "";
  const fault = FAULTS[code];
  if (fault !== undefined) return verification(fault);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return verification(otherNames(error));
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) return tlsAlert(error);
  if (code === "ECONNRESET") return "EOF";
  return dialError(error, host, port);
}

function verification(why: string): string {
  return `tls: failed to verify certificate: x509: ${why}`;
}

/** What Node knows: the name that was looked for, and those that were found. */
function otherNames(error: Error): string {
  const { host = "", cert } = error as Error & { host?: string; cert?: { subjectaltname?: string } };
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .filter((name) => name.startsWith("DNS:"))
    .map((name) => name.slice("DNS:".length));
  if (names.length === 0) return `certificate is not valid for any names, but wanted to match ${host}`;
  return `certificate is valid for ${names.join(", ")}, not ${host}`;
}

function tlsAlert(error: Error): string {
  const alert = /alert ([a-z ]+)/.exec(error.message)?.[1];
  return alert === undefined ? `tls: ${error.message}` : `remote error: tls: ${alert.trim()}`;
}
