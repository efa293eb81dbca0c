/**
 * The cluster's authority as a machine that joined has it: it asks the cluster for each certificate, and keeps what it
 * gets.
 *
 *     issue ──► the kept one, while it lasts ──► else: request, as the node or with a token --► approved, signed
 *
 * 1. A start without a control plane works with the kept ones: nodes start while the API server is away.
 * 2. The key of a certificate never leaves the machine.
 */
import { createHash, X509Certificate } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isStatusError } from "#api";
import type { Clock } from "#base";
import { Client, type HttpsConnection, https } from "#client";
import { type CertificateSpec, requestCertificate } from "#kubelet";
import { type Authority, type IssueRequest, type KeyPair, whyIssue } from "#pki";
import { ClusterError } from "../config/errors.ts";

const APPROVED_MS = 60_000;
/** How much earlier than the node's processes are started with new ones, as a share of the lifetime. */
const EARLY = 0.1;
const SIGNERS = {
  kubelet: "kubernetes.io/kube-apiserver-client-kubelet",
  serving: "kubernetes.io/kubelet-serving",
  client: "kubernetes.io/kube-apiserver-client",
};

export interface RemoteAuthorityOptions {
  /** Where certificates and keys are kept. */
  readonly dir: string;
  readonly caPem: string;
  readonly nodeName: string;
  /** An API server that answers: `https://host:port`. */
  readonly server: () => Promise<string>;
  /** For the first certificate. */
  readonly token?: string | undefined;
  readonly clock: Clock;
}

export type RemoteAuthority = Pick<Authority, "certPem" | "issue"> & {
  /** The node's client certificate: who this machine is. */
  identity(): Promise<KeyPair>;
  /** Asks for others in place of those that will soon be old. Returns the node's client certificate if it is new. */
  renewEarly(): Promise<KeyPair | undefined>;
};

export function remoteAuthority(options: RemoteAuthorityOptions): RemoteAuthority {
  const { caPem, nodeName } = options;
  const own = nodeRequest(nodeName);
  const others = new Map<string, IssueRequest>();
  const identity = (earlyBy = 0) => issueOnce(options, own, undefined, earlyBy);
  return {
    certPem: caPem,
    identity: () => identity(),
    async issue(request) {
      if (specOf(request).signerName === SIGNERS.kubelet) return identity();
      others.set(fileOf(request), request);
      return issueOnce(options, request, await identity());
    },
    async renewEarly() {
      const before = await identity();
      const after = await identity(EARLY);
      for (const request of others.values()) await issueOnce(options, request, after, EARLY);
      return after.certPem === before.certPem ? undefined : after;
    },
  };
}

export function nodeRequest(nodeName: string): IssueRequest {
  return { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"], usages: ["client"] };
}

/** Which signer signs it. Pure. */
export function specOf({ commonName, organizations, dnsNames, ipAddresses, usages }: IssueRequest): CertificateSpec {
  const subject = { commonName, ...(organizations !== undefined && { organizations }) };
  if (usages.join() === "server") {
    const names = { dnsNames: dnsNames ?? [], ipAddresses: ipAddresses ?? [] };
    return { ...subject, names, signerName: SIGNERS.serving, usage: "server auth" };
  }
  const isNode = commonName.startsWith("system:node:");
  return { ...subject, signerName: isNode ? SIGNERS.kubelet : SIGNERS.client, usage: "client auth" };
}

/** `identity`: who asks; undefined: the node itself, by its last certificate or the token. */
async function issueOnce(
  options: RemoteAuthorityOptions,
  request: IssueRequest,
  identity: KeyPair | undefined,
  earlyBy = 0,
): Promise<KeyPair> {
  const { dir, caPem, clock, nodeName } = options;
  const file = join(dir, `${fileOf(request)}.pem`);
  const kept = await readPair(file);
  const ahead = kept === undefined ? 0 : earlyBy * lifetimeOf(kept);
  const why = whyIssue(kept ?? NONE, request, new X509Certificate(caPem), clock.now() + ahead);
  if (why === undefined && kept !== undefined) return kept;
  const credentials = identity ?? ownCredentials(options, kept);
  const issued = await ask(options, specOf(request), credentials).catch((error: unknown) => {
    if (!isStatusError(error, "Unauthorized")) throw error;
    throw new ClusterError(
      `The cluster does not accept the ${"token" in credentials ? "token" : `certificate of node ${nodeName}`}: make a token on the control plane (\`k8ts token create --print-join-command\`), and join with it.`,
      { cause: error },
    );
  });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, `${issued.certPem.trimEnd()}\n${issued.keyPem}`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return issued;
}

function lifetimeOf({ certPem }: KeyPair): number {
  const { validFromDate, validToDate } = new X509Certificate(certPem);
  return validToDate.getTime() - validFromDate.getTime();
}

const NONE = { certPem: undefined, keyPem: undefined };

/** A certificate that is old but valid proves the node; else only a token does. */
function ownCredentials({ token, clock, nodeName, caPem }: RemoteAuthorityOptions, kept: KeyPair | undefined) {
  if (kept !== undefined) {
    const certificate = new X509Certificate(kept.certPem);
    const isValid =
      clock.now() < certificate.validToDate.getTime() && certificate.verify(new X509Certificate(caPem).publicKey);
    if (isValid) return kept;
  }
  if (token !== undefined) return { token };
  throw new ClusterError(
    `Node ${nodeName} has no valid certificate of its cluster: make a token on the control plane (\`k8ts token create --print-join-command\`), and join with it.`,
  );
}

async function ask(
  { server, caPem, clock, nodeName }: RemoteAuthorityOptions,
  spec: CertificateSpec,
  credentials: KeyPair | { readonly token: string },
): Promise<KeyPair> {
  const connection: HttpsConnection = { server: await server(), caPem, ...credentials };
  const client = new Client({ transport: https(connection, { clock }), clock, userAgent: "k8ts-join" });
  const late = new AbortController();
  const timer = clock.timer(APPROVED_MS, () => late.abort());
  try {
    return await requestCertificate(client, spec, late.signal);
  } catch (error) {
    if (!late.signal.aborted) throw error;
    throw new ClusterError(
      `A certificate of node ${nodeName} (${spec.commonName}, ${spec.usage}) is not approved after ${APPROVED_MS / 1000} s: \`kubectl get csr\` shows the request; \`kubectl certificate approve\` approves it.`,
      { cause: error },
    );
  } finally {
    timer.cancel();
    await client.close();
  }
}

/** One file for each request, by its names: another address is another certificate. */
function fileOf(request: IssueRequest): string {
  const { commonName, usages, dnsNames, ipAddresses } = request;
  const names = createHash("sha256")
    .update(JSON.stringify([dnsNames, ipAddresses]))
    .digest("hex")
    .slice(0, 8);
  return `${commonName.replaceAll(":", "-")}-${usages.join("-")}${usages.includes("server") ? `-${names}` : ""}`;
}

async function readPair(file: string): Promise<KeyPair | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const at = text.indexOf("-----BEGIN PRIVATE KEY-----");
  return at < 0 ? undefined : { certPem: text.slice(0, at), keyPem: text.slice(at) };
}
