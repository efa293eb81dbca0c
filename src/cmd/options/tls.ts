/** Flags of every server about TLS versions and cipher suites. */
import { Option } from "commander";
import type { TlsFlags } from "#cluster";
import { list } from "./values.ts";

export interface TlsFlagOptions {
  readonly tlsMinVersion?: string;
  readonly tlsCipherSuites?: readonly string[];
}

export function tlsOptions(): readonly Option[] {
  return [
    new Option(
      "--tls-min-version <version>",
      "lowest TLS version: VersionTLS10 to VersionTLS13 (default: VersionTLS12)",
    ),
    new Option(
      "--tls-cipher-suites <names>",
      "cipher suites of TLS 1.2 and earlier, with Go's names, comma-separated (default: Go's)",
    ).argParser(list),
  ];
}

/** Undefined: none is given. */
export function tlsFrom({ tlsMinVersion, tlsCipherSuites }: TlsFlagOptions): TlsFlags | undefined {
  if (tlsMinVersion === undefined && tlsCipherSuites === undefined) return undefined;
  return { minVersion: tlsMinVersion, cipherSuites: tlsCipherSuites };
}
