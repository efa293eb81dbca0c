/** Whether a bundle of certificates can be one, in the words of who would load it. */
import { base64Fault, decodeBase64 } from "../../machinery/scalars/base64.ts";

const failed = "unable to load root certificates";
const DER_SEQUENCE = 0x30;

/** `bundle` as JSON has it: base64 of PEM. */
export function caBundleFault(bundle: string): string | undefined {
  const blocks = pemBlocks(new TextDecoder().decode(decodeBase64(bundle)));
  if (blocks.length === 0) return `${failed}: unable to parse bytes as PEM block`;
  const certificates = blocks.filter(({ type }) => type === "CERTIFICATE");
  if (certificates.length === 0) return `${failed}: no valid certificate authority data seen`;
  const readable = certificates.every(
    ({ body }) => base64Fault(body) === undefined && decodeBase64(body)[0] === DER_SEQUENCE,
  );
  return readable ? undefined : `${failed}: failed to parse certificate: x509: malformed certificate`;
}

function pemBlocks(text: string): readonly { readonly type: string; readonly body: string }[] {
  return text
    .split("-----BEGIN ")
    .slice(1)
    .flatMap((part) => {
      const head = part.indexOf("-----");
      const type = part.slice(0, Math.max(head, 0));
      const end = part.indexOf(`-----END ${type}-----`);
      if (head < 0 || end < 0) return [];
      return [{ type, body: part.slice(head + "-----".length, end).replace(/\s+/g, "") }];
    });
}
