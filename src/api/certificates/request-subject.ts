/** Reads the subject of a PKCS#10 request, without parsing the rest. */
import { decodeBase64 } from "../machinery/scalars/base64.ts";

export interface RequestSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const SET = 0x31;
const OBJECT_ID = 0x06;
const BMP_STRING = 0x1e;
/** The object identifiers 2.5.4.3 and 2.5.4.10. */
const COMMON_NAME = "550403";
const ORGANIZATION = "55040a";

/** `request`: PEM in base64, as a CertificateSigningRequest has it. Undefined if it is not a PKCS#10 request. */
export function requestSubject(request: string): RequestSubject | undefined {
  try {
    const pem = new TextDecoder().decode(decodeBase64(request));
    const body = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END CERTIFICATE REQUEST-----/.exec(pem)?.[1] ?? "";
    const [info] = elements(only(elements(decodeBase64(body.replace(/\s/g, ""))), SEQUENCE));
    const [version, name] = info?.tag === SEQUENCE ? elements(info.content) : [];
    if (version?.tag !== INTEGER || name?.tag !== SEQUENCE) return undefined;
    const attributes = elements(name.content)
      .filter(({ tag }) => tag === SET)
      .flatMap(({ content }) => elements(content))
      .map(({ content }) => elements(content));
    const values = (id: string) =>
      attributes
        .filter(([type]) => type?.tag === OBJECT_ID && type.content.toHex() === id)
        .map(([, value]) => (value === undefined ? "" : textOf(value)));
    return { commonName: values(COMMON_NAME).at(-1) ?? "", organizations: values(ORGANIZATION) };
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

function only([first]: readonly Element[], tag: number): Uint8Array {
  if (first?.tag !== tag) throw new RangeError("another element was expected");
  return first.content;
}

function elements(bytes: Uint8Array): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    let length = bytes[at + 1] ?? 0;
    at += 2;
    if (length & 0x80) {
      const size = length & 0x7f;
      if (size === 0 || size > 4) throw new RangeError("a length that is none");
      length = 0;
      for (const end = at + size; at < end; at++) length = length * 256 + (bytes[at] ?? 0);
    }
    if (at + length > bytes.length) throw new RangeError("an element that is cut off");
    found.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return found;
}

function textOf({ tag, content }: Element): string {
  return new TextDecoder(tag === BMP_STRING ? "utf-16be" : "utf-8").decode(content);
}
