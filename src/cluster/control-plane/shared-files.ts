/**
 * The files that all control planes of a cluster share, in the Secret kubeadm-certs: each sealed with the certificate
 * key, under kubeadm's names.
 *
 * 1. Leaf certificates are not among them: every machine has its own.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { core } from "#api";
import { ClusterError } from "../config/errors.ts";
import { open, seal } from "./certificate-key.ts";

export const SECRET_NAMESPACE = "kube-system";
export const SECRET_NAME = "kubeadm-certs";

/** In the folder of the certificates; by their names in the Secret. */
const FILES = [
  "ca.crt",
  "ca.key",
  "front-proxy-ca.crt",
  "front-proxy-ca.key",
  "sa.key",
  "sa.pub",
  "etcd/ca.crt",
  "etcd/ca.key",
] as const;

export async function sealedSecret(pkiDir: string, certificateKey: string): Promise<core.Secret> {
  const data: Record<string, string> = {};
  for (const file of FILES) {
    const text = await readFile(join(pkiDir, file), "utf8");
    data[keyOf(file)] = seal(text, certificateKey).toString("base64");
  }
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: SECRET_NAME, namespace: SECRET_NAMESPACE },
    type: "Opaque",
    data,
  };
}

/** Writes the files. All are opened before the first is written; what is there already must be the same. */
export async function openInto(pkiDir: string, secret: core.Secret, certificateKey: string): Promise<void> {
  const opened = FILES.map((file) => {
    const sealed = secret.data?.[keyOf(file)];
    if (sealed === undefined)
      throw new ClusterError(`The Secret ${SECRET_NAME} lacks ${keyOf(file)}: upload the certificates again.`);
    return { file: join(pkiDir, file), text: open(Buffer.from(sealed, "base64"), certificateKey, keyOf(file)) };
  });
  for (const { file, text } of opened) {
    const before = await readFile(file, "utf8").catch(() => undefined);
    if (before !== undefined && before !== text)
      throw new ClusterError(`${file} is of another cluster: \`k8ts reset\` first, or choose another --data-dir.`);
  }
  for (const { file, text } of opened) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(`${file}.${process.pid}`, text, { mode: 0o600 });
    await rename(`${file}.${process.pid}`, file);
  }
}

/** A key of a Secret has no slash. */
function keyOf(file: string): string {
  return file.replace("/", "-");
}
