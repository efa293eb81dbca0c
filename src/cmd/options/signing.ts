/** Whose keys sign CertificateSigningRequests: flags with kube-controller-manager's names. */
import { Option } from "commander";
import { table } from "#base";
import { ClusterError, type SigningPair, type StandaloneControllerManagerConfig } from "#cluster";
import { milliseconds } from "./values.ts";

const YEAR_MS = 8760 * 3_600_000;
const GENERAL = "cluster-signing";

/** The flags of single signers, and the signers that they are for. */
const SINGLE: Readonly<Record<string, string>> = table({
  "cluster-signing-kubelet-serving": "kubernetes.io/kubelet-serving",
  "cluster-signing-kubelet-client": "kubernetes.io/kube-apiserver-client-kubelet",
  "cluster-signing-kube-apiserver-client": "kubernetes.io/kube-apiserver-client",
  "cluster-signing-legacy-unknown": "kubernetes.io/legacy-unknown",
});

export interface SigningFlagOptions {
  readonly clusterSigningDuration: number;
}

export function signingFlags(): readonly Option[] {
  const pair = (flag: string, what: string) => [
    new Option(`--${flag}-cert-file <file>`, `CA certificate for signing ${what}`),
    new Option(`--${flag}-key-file <file>`, "private key of that certificate"),
  ];
  return [
    ...pair(GENERAL, "CertificateSigningRequests of all signers"),
    ...Object.entries(SINGLE).flatMap(([flag, signer]) => pair(flag, `CertificateSigningRequests of ${signer}`)),
    new Option("--cluster-signing-duration <duration>", "maximum lifetime of signed certificates")
      .argParser(milliseconds)
      .default(YEAR_MS, "8760h"),
  ];
}

export function signingFrom(options: SigningFlagOptions): StandaloneControllerManagerConfig["signing"] {
  const general = pairOf(options, GENERAL);
  const single = Object.entries(SINGLE).flatMap(([flag, signer]) => pairOf(options, flag, [signer]) ?? []);
  const [first] = single;
  if (general !== undefined && first !== undefined) {
    throw new ClusterError(
      `--${GENERAL}-cert-file and --${first.flag}-cert-file exclude each other: give one pair for all signers, or one for each.`,
    );
  }
  const pairs = general === undefined ? single : [general];
  return pairs.length === 0 ? undefined : { pairs, durationMs: options.clusterSigningDuration };
}

function pairOf(options: object, flag: string, signers?: readonly string[]): SigningPair | undefined {
  const given = new Map<string, unknown>(Object.entries(options));
  const [certFile, keyFile] = ["cert", "key"].map((what) => given.get(camelCase(`${flag}-${what}-file`)));
  if (typeof certFile === "string" && typeof keyFile === "string") return { flag, signers, certFile, keyFile };
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new ClusterError(`--${flag}-cert-file and --${flag}-key-file belong together: give both or none.`);
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
