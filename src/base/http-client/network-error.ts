/** Why a connection failed, in the words of Go's net, tls and x509 packages: people and clients search for them. */

import { isIP } from "node:net";
import { table } from "../collections/table.ts";

export interface NetworkAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with brackets around an IPv6 address. */
export function addressText({ host, port }: NetworkAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const DIAL_ERRORS: Readonly<Record<string, string>> = table({
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
  ECONNRESET: "connection reset by peer",
});

const UNKNOWN_AUTHORITY = "certificate signed by unknown authority";
const EXPIRED = "certificate has expired or is not yet valid";

const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = table({
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: EXPIRED,
  CERT_NOT_YET_VALID: EXPIRED,
});

/** `error` is an error of node:net or node:tls, or any other, whose message then stands for itself. */
export function networkErrorText(error: unknown, address: NetworkAddress): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const dial = DIAL_ERRORS[code];
  if (dial !== undefined) return `dial tcp ${addressText(address)}: ${dial}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `dial tcp: lookup ${address.host}: no such host`;
  const certificate = CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) return `tls: failed to verify certificate: x509: ${certificate}`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `tls: failed to verify certificate: x509: ${wrongName(error)}`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) return tlsAlert(message);
  return message;
}

/** Names the host that was wanted and those of its kind (names, or addresses) that the certificate is for. */
function wrongName(error: unknown): string {
  const { host = "", cert } = error as { readonly host?: string; readonly cert?: { readonly subjectaltname?: string } };
  const prefix = isIP(host) === 0 ? "DNS:" : "IP Address:";
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  if (names.length > 0) return `certificate is valid for ${names.join(", ")}, not ${host}`;
  if (isIP(host) === 0) return `certificate is not valid for any names, but wanted to match ${host}`;
  return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
}

function tlsAlert(message: string): string {
  const alert = /alert ([a-z ]+)/.exec(message)?.[1];
  return alert === undefined ? `tls: ${message}` : `remote error: tls: ${alert.trim()}`;
}
