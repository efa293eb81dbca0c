/**
 * The certificate key, by which control planes hand over their keys: AES-256-GCM, as kubeadm does it.
 *
 *     sealed = nonce (12 bytes) · ciphertext · tag (16 bytes)
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { ClusterError } from "../config/errors.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function newCertificateKey(): string {
  return randomBytes(KEY_BYTES).toString("hex");
}

export function isCertificateKey(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text);
}

export function seal(text: string, certificateKey: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(certificateKey), nonce);
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** `name`: what is opened, for errors. */
export function open(sealed: Buffer, certificateKey: string, name: string): string {
  const key = keyOf(certificateKey);
  try {
    const end = sealed.length - TAG_BYTES;
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new ClusterError(`${name} does not open with this certificate key: is it the one of the last upload?`, {
      cause,
    });
  }
}

function keyOf(certificateKey: string): Buffer {
  if (!isCertificateKey(certificateKey))
    throw new ClusterError(
      "A certificate key is 64 hexadecimal digits, as `k8ts token create --control-plane` prints it.",
    );
  return Buffer.from(certificateKey, "hex");
}
