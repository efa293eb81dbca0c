/** `--tls-sni-cert-key`: certificates for the names that clients ask for, in files that may change. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { NamedCertificate } from "#apiserver";
import { ClusterError } from "./errors.ts";
import { readFlag } from "./flag-files.ts";

const FLAG = "--tls-sni-cert-key";

export interface NamedCertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Domains, `*.` in front of one, or addresses. Empty: the domains in the certificate. */
  readonly names: readonly string[];
}

/** As they are now. Throws ClusterError. */
export async function readNamed(files: readonly NamedCertificateFiles[] = []): Promise<readonly NamedCertificate[]> {
  return Promise.all(
    files.map(async ({ certFile, keyFile, names }) => {
      const [certPem, keyPem] = await Promise.all([readFlag(FLAG, certFile), readFlag(FLAG, keyFile)]);
      checkPair(certPem, keyPem);
      return { certPem, keyPem, names };
    }),
  );
}

/** Each file, with what it held when it was read. */
export function namedFiles(
  files: readonly NamedCertificateFiles[] = [],
  read: readonly NamedCertificate[] = [],
): readonly { readonly file: string; readonly text: string }[] {
  return files.flatMap(({ certFile, keyFile }, i) => [
    { file: certFile, text: read[i]?.certPem ?? "" },
    { file: keyFile, text: read[i]?.keyPem ?? "" },
  ]);
}

function checkPair(certPem: string, keyPem: string): void {
  const failed = (why: string, cause?: unknown) =>
    new ClusterError(`${FLAG}: failed to load SNI cert and key: ${why}`, { cause });
  let matches: boolean;
  try {
    matches = new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem));
  } catch (error) {
    throw failed((error as Error).message, error);
  }
  if (!matches) throw failed("tls: private key does not match public key");
}
