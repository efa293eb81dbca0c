/**
 * The serving certificate and client CAs of a standalone API server: from files, which may change while it runs.
 *
 * 1. Without a certificate, a self-signed one is created, as in kube-apiserver.
 */
import { X509Certificate } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { ApiServerOptions } from "#apiserver";
import type { Clock } from "#base";
import { createAuthority } from "#pki";
import { ClusterError } from "./errors.ts";
import { readFlag } from "./flag-files.ts";

export interface ServingFlags {
  /** `--cert-dir`: for apiserver.crt and apiserver.key. */
  readonly certDir: string;
  readonly tlsCertFile?: string | undefined;
  readonly tlsPrivateKeyFile?: string | undefined;
  readonly clientCaFile?: string | undefined;
}

export interface ServingNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export interface ServingFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
}

/** Creates the certificate if there is none. */
export async function servingFiles(flags: ServingFlags, names: ServingNames, clock: Clock): Promise<ServingFiles> {
  const { certDir, tlsCertFile, tlsPrivateKeyFile, clientCaFile: clientCa } = flags;
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new ClusterError("--tls-cert-file and --tls-private-key-file belong together: give both or none.");
  }
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    return { cert: tlsCertFile, key: tlsPrivateKeyFile, clientCa };
  }
  const [cert, key] = [join(certDir, "apiserver.crt"), join(certDir, "apiserver.key")];
  if (!(await isThere(cert)) || !(await isThere(key))) await makePair(cert, key, certDir, names, clock);
  return { cert, key, clientCa };
}

/** As they are now. */
export async function readServing({ cert, key, clientCa }: ServingFiles): Promise<ApiServerOptions["certificate"]> {
  const [certPem, keyPem, clientCaPem] = await Promise.all([
    readFlag("--tls-cert-file", cert),
    readFlag("--tls-private-key-file", key),
    clientCa === undefined ? "" : readFlag("--client-ca-file", clientCa),
  ]);
  for (const [flag, pem] of [
    ["--tls-cert-file", certPem],
    ["--client-ca-file", clientCaPem],
  ] as const) {
    if (pem !== "" && !isCertificate(pem)) throw new ClusterError(`${flag}: it contains no PEM certificate.`);
  }
  return { certPem, keyPem, clientCaPem };
}

/** The names under which clients reach an API server, besides its addresses. */
export function servingDnsNames(): readonly string[] {
  return [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    hostname(),
  ];
}

async function makePair(cert: string, key: string, certDir: string, names: ServingNames, clock: Clock): Promise<void> {
  const host = names.ipAddresses[0] ?? "localhost";
  const authority = await createAuthority({ commonName: `${host}-ca`, clock });
  const pair = await authority.issue({ commonName: host, ...names, usages: ["server"] });
  try {
    await mkdir(certDir, { recursive: true });
    await writeFile(key, pair.keyPem, { mode: 0o600 });
    // With its CA appended, so that clients can verify the server with this file.
    await writeFile(cert, pair.certPem + authority.certPem, { mode: 0o644 });
  } catch (error) {
    throw new ClusterError(`--cert-dir: ${(error as Error).message}.`, { cause: error });
  }
}

async function isThere(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw new ClusterError(`--cert-dir: ${error.message}.`, { cause: error });
    },
  );
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
