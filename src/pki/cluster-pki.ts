/**
 * All keys and certificates of a cluster, in a folder with kubeadm's file names: made on the first start, used again on
 * later ones, renewed in time.
 *
 * 1. Everything is read and decided first, then written in one go: an error leaves the folder as it was.
 * 2. A CA is never replaced, since every client trusts it by its bytes: a damaged one is an error. Leaves are replaced
 *    freely.
 * 3. A key reaches its place before its certificate: after a crash in between, the next start repairs the pair.
 */

import { join } from "node:path";
import type { Clock, Logger } from "#base";
import { type Authority, createAuthority, type KeyPair, loadAuthority } from "./authority.ts";
import { PkiError } from "./errors.ts";
import { ensurePrivateFolder, type FileWrite, PRIVATE_FILE, PUBLIC_FILE, readIfPresent, writeFiles } from "./files.ts";
import { privateKeyIn } from "./keys.ts";
import { type AuthorityName, type LeafName, type LeafSpec, leafSpecs, type ServerNames, whyIssue } from "./leaf.ts";
import { planServiceAccountKey, type ServiceAccountKey } from "./service-account-key.ts";

type Authorities = Readonly<Record<AuthorityName, Authority>>;
type Certificates = Authorities & Readonly<Record<LeafName, KeyPair>>;

export interface ClusterPki extends Certificates {
  readonly dir: string;
  /** Whether this call made the CA. */
  readonly created: boolean;
  readonly serverNames: ServerNames;
  readonly serviceAccount: ServiceAccountKey;
}

export interface ClusterPkiOptions {
  readonly clock: Clock;
  /** The names and addresses of the API server's certificate. */
  readonly serverNames: ServerNames;
  /** Called for each certificate that is made. */
  readonly log?: Pick<Logger, "info">;
}

type IssueOptions = Pick<ClusterPkiOptions, "clock" | "log">;

export interface Planned<T> {
  readonly value: T;
  readonly writes: readonly FileWrite[];
}

export async function ensureClusterPki(dir: string, options: ClusterPkiOptions): Promise<ClusterPki> {
  const { serverNames } = options;
  await ensurePrivateFolder(dir);
  const [serviceAccount, certificates] = await Promise.all([
    planServiceAccountKey(dir),
    planCertificates(dir, options),
  ]);
  const writes = [...serviceAccount.writes, ...certificates.writes];
  if (writes.length > 0) await writeFiles(writes);
  const { created, value } = certificates;
  return { dir, created, serverNames, serviceAccount: serviceAccount.value, ...value };
}

async function planCertificates(dir: string, options: ClusterPkiOptions) {
  const [ca, frontProxyCa] = await Promise.all([
    planAuthority(dir, "ca", "kubernetes", options),
    planAuthority(dir, "front-proxy-ca", "front-proxy-ca", options),
  ]);
  const specs = leafSpecs(options.serverNames);
  const authorities: Authorities = { ca: ca.value, frontProxyCa: frontProxyCa.value };
  const leaf = (name: LeafName) => planLeaf(dir, specs[name], authorities[specs[name].signedBy], options);
  const [apiserver, apiserverKubeletClient, frontProxyClient, admin] = await Promise.all([
    leaf("apiserver"),
    leaf("apiserverKubeletClient"),
    leaf("frontProxyClient"),
    leaf("admin"),
  ]);
  const value: Certificates = {
    ...authorities,
    apiserver: apiserver.value,
    apiserverKubeletClient: apiserverKubeletClient.value,
    frontProxyClient: frontProxyClient.value,
    admin: admin.value,
  };
  const writes = [ca, frontProxyCa, apiserver, apiserverKubeletClient, frontProxyClient, admin].flatMap(
    (planned) => planned.writes,
  );
  return { value, created: ca.writes.length > 0, writes };
}

export async function planAuthority(
  dir: string,
  file: string,
  commonName: string,
  { clock, log }: IssueOptions,
): Promise<Planned<Authority>> {
  const paths = pairPaths(dir, file);
  const { certPem, keyPem } = await readPair(paths);
  if (certPem === undefined) {
    const value = await createAuthority({
      commonName,
      clock,
      // A key without a certificate: left by a crash on the first start, or restored from a backup. The same key gives
      // the same CA.
      key:
        keyPem === undefined
          ? undefined
          : privateKeyIn(paths.key, keyPem, "put back a copy, or remove it to start anew"),
    });
    log?.info("CA made", { file: paths.cert });
    return { value, writes: pairWrites(paths, value) };
  }
  if (keyPem === undefined) {
    throw new PkiError(`${paths.key} is missing beside ${file}.crt: put it back, or remove ${dir} to start anew.`);
  }
  const value = await loadAuthority({ certPem, keyPem, clock }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PkiError(`${paths.cert} with ${file}.key cannot be used as a CA: ${reason}`, error);
  });
  if (clock.now() >= value.certificate.validToDate.getTime()) {
    throw new PkiError(`${paths.cert} expired on ${value.certificate.validTo}: remove ${dir} to start with a new CA.`);
  }
  return { value, writes: [] };
}

export async function planLeaf(
  dir: string,
  { file, request }: Pick<LeafSpec, "file" | "request">,
  authority: Authority,
  { clock, log }: IssueOptions,
): Promise<Planned<KeyPair>> {
  const paths = pairPaths(dir, file);
  const found = await readPair(paths);
  const reason = whyIssue(found, request, authority.certificate, clock.now());
  if (reason === undefined && found.certPem !== undefined && found.keyPem !== undefined) {
    return { value: { certPem: found.certPem, keyPem: found.keyPem }, writes: [] };
  }
  const value = await authority.issue(request);
  log?.info("certificate made", { file: paths.cert, because: `it ${reason}` });
  return { value, writes: pairWrites(paths, value) };
}

interface PairPaths {
  readonly cert: string;
  readonly key: string;
}

function pairPaths(dir: string, file: string): PairPaths {
  return { cert: join(dir, `${file}.crt`), key: join(dir, `${file}.key`) };
}

async function readPair(paths: PairPaths) {
  const [certPem, keyPem] = await Promise.all([readIfPresent(paths.cert), readIfPresent(paths.key)]);
  return { certPem, keyPem };
}

function pairWrites(paths: PairPaths, pair: KeyPair): FileWrite[] {
  return [
    { path: paths.key, text: pair.keyPem, mode: PRIVATE_FILE },
    { path: paths.cert, text: pair.certPem, mode: PUBLIC_FILE },
  ];
}
