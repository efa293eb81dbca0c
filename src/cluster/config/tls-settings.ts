/**
 * TLS flags, with the names that Go has for versions, cipher suites and curves, as settings of OpenSSL.
 *
 * 1. As in Go, the suites of TLS 1.3 are always on: the flag chooses those of TLS 1.2 and earlier.
 * 2. HTTP/2 over TLS 1.2 needs one of two suites (RFC 9113, 9.2.2): without them the server does not start.
 */
import type { SecureVersion } from "node:tls";
import type { TlsSettings } from "#apiserver";
import { ClusterError } from "./errors.ts";

/** As given; see `tlsSettings` for what is accepted. */
export interface TlsFlags {
  /** Such as VersionTLS12. */
  readonly minVersion?: string | undefined;
  /** Such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. */
  readonly cipherSuites?: readonly string[] | undefined;
  /** Numbers of the registry "TLS Supported Groups", preferred first. */
  readonly curves?: readonly number[] | undefined;
}

const VERSIONS: ReadonlyMap<string, SecureVersion> = new Map([
  ["VersionTLS10", "TLSv1"],
  ["VersionTLS11", "TLSv1.1"],
  ["VersionTLS12", "TLSv1.2"],
  ["VersionTLS13", "TLSv1.3"],
]);

const TLS_1_3 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

const SECURE: ReadonlyMap<string, string> = new Map([
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  // Earlier names of the two before.
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"],
]);

/** Undefined: OpenSSL has it no more. */
const INSECURE: ReadonlyMap<string, string | undefined> = new Map([
  ["TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"],
  ["TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"],
  ["TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"],
  ["TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
  ["TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"],
  ["TLS_RSA_WITH_RC4_128_SHA", undefined],
  ["TLS_RSA_WITH_3DES_EDE_CBC_SHA", undefined],
  ["TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", undefined],
  ["TLS_ECDHE_RSA_WITH_RC4_128_SHA", undefined],
  ["TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", undefined],
]);

/** One of them is needed for HTTP/2 over TLS 1.2. */
const HTTP2_SUITES = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"];

const CURVES: ReadonlyMap<number, string> = new Map([
  [23, "P-256"],
  [24, "P-384"],
  [25, "P-521"],
  [29, "X25519"],
  [4587, "SecP256r1MLKEM768"],
  [4588, "X25519MLKEM768"],
  [4589, "SecP384r1MLKEM1024"],
]);

/** `http2`: whether HTTP/2 is offered. Throws ClusterError. */
export function tlsSettings({ minVersion, cipherSuites = [], curves = [] }: TlsFlags, http2 = true): TlsSettings {
  const version = minVersion === undefined || minVersion === "" ? undefined : VERSIONS.get(minVersion);
  if (version === undefined && minVersion) throw new ClusterError(`unknown tls version ${JSON.stringify(minVersion)}`);
  const suites = cipherSuites.map(suiteOf);
  if (http2 && suites.length > 0 && version !== "TLSv1.3" && !HTTP2_SUITES.some((each) => cipherSuites.includes(each)))
    throw new ClusterError(
      "error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 " +
        `cipher (need at least one of ${HTTP2_SUITES.join(" or ")})`,
    );
  return {
    minVersion: version,
    ciphers: suites.length === 0 ? undefined : [...new Set([...TLS_1_3, ...suites])].join(":"),
    groups: curves.length === 0 ? undefined : groupsOf(curves),
  };
}

/** Accepted, but worth a warning. */
export function insecureSuites({ cipherSuites = [] }: TlsFlags): readonly string[] {
  return cipherSuites.filter((name) => INSECURE.has(name));
}

function suiteOf(name: string): string {
  if (TLS_1_3.includes(name)) return name;
  if (INSECURE.has(name) && INSECURE.get(name) === undefined)
    throw new ClusterError(`Cipher suite ${name} is insecure, and OpenSSL does not support it any more.`);
  const found = SECURE.get(name) ?? INSECURE.get(name);
  if (found === undefined) throw new ClusterError(`Cipher suite ${name} not supported or doesn't exist`);
  return found;
}

function groupsOf(curves: readonly number[]): string {
  return curves
    .map((id, i) => {
      if (id <= 0 || id > 65_535) throw new ClusterError(`curve preference ${id} is out of range (must be 1-65535)`);
      if (curves.indexOf(id) !== i) throw new ClusterError(`duplicate curve preference ${id}`);
      const group = CURVES.get(id);
      if (group === undefined)
        throw new ClusterError(`curve preference ${id} is not supported by the current Go version`);
      return group;
    })
    .join(":");
}
