/** Flags about connections: TLS, HTTP/2, the port; with kube-apiserver's names. */
import { InvalidArgumentError, Option } from "commander";
import { ClusterError, type ServingSettings } from "#cluster";
import { type TlsFlagOptions, tlsOptions } from "../tls.ts";
import { boolean, wholeNumber } from "../values.ts";

type NamedCertificate = NonNullable<ServingSettings["namedCertificates"]>[number];

export interface ServingFlagOptions extends TlsFlagOptions {
  readonly tlsCurvePreferences?: readonly number[];
  readonly tlsSniCertKey?: readonly NamedCertificate[];
  readonly http2MaxStreamsPerConnection?: number;
  readonly disableHttp2Serving?: boolean;
  readonly goawayChance?: number;
  readonly permitPortSharing?: boolean;
  readonly permitAddressSharing?: boolean;
}

/** What `--http2-max-streams-per-connection 0` means. */
const FEW_STREAMS = 100;
const MAX_GOAWAY_CHANCE = 0.02;

export function servingOptions(): readonly Option[] {
  return [
    ...tlsOptions(),
    new Option(
      "--tls-curve-preferences <numbers>",
      "key exchanges, preferred first, by their numbers: 23, 24, 25, 29, 4587, 4588, 4589",
    ).argParser(numbers),
    new Option(
      "--tls-sni-cert-key <files>",
      "another serving certificate, as CERT,KEY or CERT,KEY:NAME,…; may be repeated",
    ).argParser(namedCertificate),
    new Option(
      "--http2-max-streams-per-connection <n>",
      "concurrent requests of one HTTP/2 connection; 0 means 100 (default: 1000)",
    ).argParser(wholeNumber(0, 2 ** 31 - 1)),
    new Option("--disable-http2-serving [boolean]", "serve HTTP/1.1 only (default: false)")
      .preset("true")
      .argParser(boolean),
    new Option(
      "--goaway-chance <fraction>",
      "share of HTTP/2 requests whose clients are asked to connect anew, 0 to 0.02 (default: 0)",
    ).argParser(fraction),
    new Option("--permit-port-sharing [boolean]", "share address and port with other processes (default: false)")
      .preset("true")
      .argParser(boolean),
    new Option("--permit-address-sharing [boolean]", "accepted for compatibility: SO_REUSEADDR is always set")
      .preset("true")
      .argParser(boolean),
  ];
}

/** Throws ClusterError. */
export function servingFrom(options: ServingFlagOptions): ServingSettings {
  const { goawayChance, http2MaxStreamsPerConnection: maxStreams, disableHttp2Serving: disabled } = options;
  if (goawayChance !== undefined && !(goawayChance >= 0 && goawayChance <= MAX_GOAWAY_CHANCE))
    throw new ClusterError("--goaway-chance can not be less than 0 or greater than 0.02");
  return {
    tls: {
      minVersion: options.tlsMinVersion,
      cipherSuites: options.tlsCipherSuites,
      curves: options.tlsCurvePreferences,
    },
    namedCertificates: options.tlsSniCertKey,
    http2: { disabled, maxStreams: maxStreams === 0 ? FEW_STREAMS : maxStreams },
    goawayChance,
    sharedPort: options.permitPortSharing,
  };
}

export function notesOnServing({ permitAddressSharing }: ServingFlagOptions): readonly string[] {
  return permitAddressSharing === false
    ? ["--permit-address-sharing=false has no effect in this API server: SO_REUSEADDR is always set."]
    : [];
}

function numbers(value: string, before: readonly number[] = []): readonly number[] {
  const given = value.split(",").map((each) => {
    if (!/^-?\d+$/.test(each)) throw new InvalidArgumentError(`${JSON.stringify(each)} is not a number.`);
    return Number(each);
  });
  return [...before, ...given];
}

function fraction(value: string): number {
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(value)) throw new InvalidArgumentError("It must be a number.");
  return Number(value);
}

function namedCertificate(value: string, before: readonly NamedCertificate[] = []): readonly NamedCertificate[] {
  const at = value.indexOf(":");
  const [files, names] = at < 0 ? [value, undefined] : [value.slice(0, at), value.slice(at + 1).trim()];
  if (names === "") throw new InvalidArgumentError("empty names list is not allowed");
  const [certFile = "", keyFile, ...more] = files.split(",").map((file) => file.trim());
  if (keyFile === undefined || more.length > 0)
    throw new InvalidArgumentError("expected comma separated certificate and key file paths");
  return [...before, { certFile, keyFile, names: names?.split(",").map((name) => name.trim()) ?? [] }];
}
