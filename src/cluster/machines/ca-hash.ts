/** The pin of a cluster's authority: `sha256:` and the hash of its public key, as kubeadm has it. */
import { createHash, X509Certificate } from "node:crypto";

const HASH = /^sha256:[0-9a-f]{64}$/;

export function caHash(caPem: string): string {
  const key = new X509Certificate(caPem).publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

export function isCaHash(text: string): boolean {
  return HASH.test(text);
}
