/** Requests a node's client or serving certificate with a CertificateSigningRequest that others approve and sign. */
import { type certificates, kinds } from "#api";
import type { Client } from "#client";
import { makeSigningRequest, type ServerNames } from "#pki";

export interface IssuedCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export class CertificateRefusedError extends Error {
  override readonly name = "CertificateRefusedError";
}

export interface CertificateSpec {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly signerName: string;
  readonly usage: "client auth" | "server auth";
  /** Of a server. */
  readonly names?: ServerNames | undefined;
}

/** The client certificate of a node; with `names` its serving certificate. */
export function nodeCertificate(nodeName: string, names?: ServerNames): CertificateSpec {
  return {
    commonName: `system:node:${nodeName}`,
    organizations: ["system:nodes"],
    names,
    ...(names === undefined
      ? { signerName: "kubernetes.io/kube-apiserver-client-kubelet", usage: "client auth" }
      : { signerName: "kubernetes.io/kubelet-serving", usage: "server auth" }),
  };
}

/** Resolves when it is issued; throws CertificateRefusedError if it is denied. */
export async function requestCertificate(
  client: Client,
  { commonName, organizations, signerName, usage, names }: CertificateSpec,
  signal: AbortSignal,
): Promise<IssuedCertificate> {
  const { pem, keyPem } = makeSigningRequest({ commonName, ...(organizations && { organizations }) }, names);
  const requests = client.of(kinds.CertificateSigningRequest);
  const request: certificates.CertificateSigningRequest = {
    metadata: { generateName: "csr-" },
    spec: { request: Buffer.from(pem).toString("base64"), signerName, usages: ["digital signature", usage] },
  };
  const created = await requests.create(request, { signal });
  const { name = "", resourceVersion = "" } = created.metadata;
  const certPem = issued(created) ?? (await waited(requests, name, resourceVersion, signal));
  return { certPem, keyPem };
}

async function waited(
  requests: ReturnType<Client["of"]>,
  name: string,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<string> {
  const fieldSelector = `metadata.name=${name}`;
  for (let from: string | undefined = resourceVersion; ; from = undefined) {
    const watch = requests.watch({ fieldSelector, signal, ...(from !== undefined && { resourceVersion: from }) });
    for await (const event of watch) {
      if (event.type === "BOOKMARK") continue;
      if (event.type === "DELETED") throw new CertificateRefusedError(`the request ${name} was deleted`);
      const certPem = issued(event.object as certificates.CertificateSigningRequest);
      if (certPem !== undefined) return certPem;
    }
  }
}

function issued({ metadata, status }: certificates.CertificateSigningRequest): string | undefined {
  const refusal = status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
  if (refusal !== undefined)
    throw new CertificateRefusedError(
      `the request ${metadata.name} was ${refusal.type.toLowerCase()}: ${refusal.message ?? ""}`,
    );
  return status?.certificate === undefined ? undefined : Buffer.from(status.certificate, "base64").toString();
}
