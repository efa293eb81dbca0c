/** Whether the certificates that a definition's conversion webhook is checked by can be read. */
import { X509Certificate } from "node:crypto";
import { caBundleOf } from "../outbound/webhook-client.ts";
import type { Definition } from "./definition.ts";

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export function hasValidCaBundle({ spec }: Definition): boolean {
  const config = spec.conversion?.webhook?.clientConfig;
  const pem = config === undefined ? undefined : caBundleOf(config);
  if (pem === undefined) return true;
  const blocks = pem.match(BLOCK) ?? [];
  return blocks.length > 0 && blocks.every(isReadable);
}

function isReadable(block: string): boolean {
  try {
    new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
}
