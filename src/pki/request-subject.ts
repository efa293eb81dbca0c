/** The subject of a certificate signing request whose signature nobody has checked yet. */
import * as der from "./der.ts";

export interface RequestSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const [INTEGER, BMP_STRING, SEQUENCE, SET] = [0x02, 0x1e, 0x30, 0x31];
const COMMON_NAME = der.oid("2.5.4.3");
const ORGANIZATION = der.oid("2.5.4.10");

/** `request`: PEM in base64, as a CertificateSigningRequest has it. Undefined if it is not a request. */
export function requestSubject(request: string): RequestSubject | undefined {
  const pem = Buffer.from(request, "base64").toString();
  const body = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END CERTIFICATE REQUEST-----/.exec(pem)?.[1] ?? "";
  try {
    const [whole] = der.elements(Buffer.from(body, "base64"));
    const [info] = whole?.tag === SEQUENCE ? der.elements(whole.content) : [];
    const [version, name] = info?.tag === SEQUENCE ? der.elements(info.content) : [];
    if (version?.tag !== INTEGER || name?.tag !== SEQUENCE) return undefined;
    const attributes = der
      .elements(name.content)
      .filter(({ tag }) => tag === SET)
      .flatMap(({ content }) => der.elements(content))
      .map(({ content }) => der.elements(content));
    const values = (type: Buffer) =>
      attributes.flatMap(([id, value]) => (id?.raw.equals(type) && value !== undefined ? [textOf(value)] : []));
    return { commonName: values(COMMON_NAME).at(-1) ?? "", organizations: values(ORGANIZATION) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function textOf({ tag, content }: der.Element): string {
  return tag === BMP_STRING ? Buffer.from(content).swap16().toString("utf16le") : content.toString("utf8");
}
