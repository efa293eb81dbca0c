/**
 * A front proxy that has authenticated its clients, and passes the user in headers.
 *
 * 1. The headers count only on connections with a client certificate of the request-header authority and an allowed
 *    name. On other connections they are ignored, and removed.
 */
import { type ApiRequest, isStandardCredential } from "../http/exchange.ts";
import { headerValue, headerValues, prefixedValues } from "../http/header-values.ts";
import type { CertificateChecker } from "./certificates.ts";
import { type RequestAuthenticator, refused } from "./verdict.ts";

export interface FrontProxyHeaders {
  readonly username: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefixes: readonly string[];
}

export const STANDARD_HEADERS: FrontProxyHeaders = {
  username: ["X-Remote-User"],
  uid: ["X-Remote-Uid"],
  group: ["X-Remote-Group"],
  extraPrefixes: ["X-Remote-Extra-"],
};

export interface FrontProxyOptions {
  /** Checks certificates of the request-header authority. */
  readonly certificates: CertificateChecker;
  /** Common names; empty: any. */
  readonly allowedNames: readonly string[];
  readonly headers?: FrontProxyHeaders;
}

export function frontProxy({ certificates, allowedNames, headers }: FrontProxyOptions): RequestAuthenticator {
  const names = lowerCase(headers ?? STANDARD_HEADERS);
  return (request) => {
    const { certificate } = request;
    const name = headerValue(request, ...names.username);
    if (certificate === undefined || name === undefined) return undefined;
    const checked = certificates.check(certificate);
    if ("fault" in checked) return refused(checked.fault);
    if (allowedNames.length > 0 && !allowedNames.includes(checked.commonName)) {
      return refused(`x509: subject with cn=${checked.commonName} is not in the allowed list`);
    }
    const uid = headerValue(request, ...names.uid);
    const groups = names.group.flatMap((header) => headerValues(request, header)).filter((group) => group !== "");
    const extra = extraOf(request, names.extraPrefixes);
    return {
      user: { name, groups, ...(uid !== undefined && { uid }), ...(Object.keys(extra).length > 0 && { extra }) },
    };
  };
}

/** The headers of front proxies, the standard ones and configured ones: removed after authentication. */
export function credentialHeaders(headers: FrontProxyHeaders = STANDARD_HEADERS): (name: string) => boolean {
  const { username, uid, group, extraPrefixes } = lowerCase(headers);
  const named = new Set([...username, ...uid, ...group]);
  return (name) =>
    isStandardCredential(name) || named.has(name) || extraPrefixes.some((prefix) => name.startsWith(prefix));
}

/** Names in lower case, as requests have them. */
function lowerCase(headers: FrontProxyHeaders): FrontProxyHeaders {
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  return {
    username: lower(headers.username),
    uid: lower(headers.uid),
    group: lower(headers.group),
    extraPrefixes: lower(headers.extraPrefixes),
  };
}

function extraOf(request: ApiRequest, prefixes: readonly string[]): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {};
  for (const prefix of prefixes) {
    for (const [key, values] of prefixedValues(request, prefix)) extra[key] = [...(extra[key] ?? []), ...values];
  }
  return extra;
}
