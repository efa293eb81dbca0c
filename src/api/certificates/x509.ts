/**
 * Certificates and public keys, as far as validation looks into them: RFC 5280. Pure, so signatures are not verified.
 */
import { table } from "#base";
import { decodeBase64, isCanonicalBase64 } from "../machinery/scalars/base64.ts";
import { type Element, elementsOf, inside, oidOf } from "./der.ts";

const [SEQUENCE, BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OID] = [0x30, 0x01, 0x02, 0x03, 0x04, 0x06];
const [UTC_TIME, GENERALIZED_TIME, EXTENSIONS, VERSION, DNS_NAME] = [0x17, 0x18, 0xa3, 0xa0, 0x82];
const BASIC_CONSTRAINTS = "2.5.29.19";
const ALTERNATIVE_NAMES = "2.5.29.17";
const CURVES: Readonly<Record<string, string>> = table({
  "1.2.840.10045.3.1.7": "P-256",
  "1.3.132.0.34": "P-384",
  "1.3.132.0.35": "P-521",
  "1.3.132.0.33": "P-224",
});

export interface Certificate {
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** As SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  readonly dnsNames: readonly string[];
  /** Absent without basic constraints. */
  readonly isCa?: boolean | undefined;
}

export type PublicKey =
  | { readonly type: "Ed25519" }
  | { readonly type: "ECDSA"; readonly curve: string }
  | { readonly type: "RSA"; readonly bits: number }
  | { readonly type: "unknown" };

export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  /** Undefined: the text between the lines is not base64. */
  readonly bytes: Uint8Array | undefined;
}

const PEM = /^-----BEGIN ([^\n-]*)-----[ \t\r]*\n([\s\S]*?)^-----END \1-----/gm;

export function pemBlocks(text: string): readonly PemBlock[] {
  return [...text.matchAll(PEM)].map(([, type = "", body = ""]) => {
    const hasHeaders = body.includes(":");
    const base64 = (hasHeaders ? body.slice(body.search(/\n\s*\n/) + 1) : body).replace(/\s/g, "");
    return { type, hasHeaders, bytes: isCanonicalBase64(base64) ? decodeBase64(base64) : undefined };
  });
}

/** Undefined: not a certificate. */
export function parseCertificate(bytes: Uint8Array): Certificate | undefined {
  const [body, algorithm, signature, ...others] = inside(bytes, SEQUENCE) ?? [];
  if (algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING || others.length > 0) return undefined;
  const fields = sequenceOf(body) ?? [];
  // The version is left out in certificates of version 1.
  const [serial, , issuer, validity, subject, key, ...rest] = fields[0]?.tag === VERSION ? fields.slice(1) : fields;
  if (serial?.tag !== INTEGER || issuer?.tag !== SEQUENCE || subject?.tag !== SEQUENCE || key?.tag !== SEQUENCE)
    return undefined;
  const [notBefore, notAfter] = (sequenceOf(validity) ?? []).map(timeOf);
  if (notBefore === undefined || notAfter === undefined) return undefined;
  const extensions = extensionsOf(rest.find(({ tag }) => tag === EXTENSIONS));
  if (extensions === undefined) return undefined;
  const constraints = extensions.get(BASIC_CONSTRAINTS);
  const names = inside(extensions.get(ALTERNATIVE_NAMES) ?? new Uint8Array(), SEQUENCE) ?? [];
  return {
    notBefore,
    notAfter,
    publicKey: key.content,
    dnsNames: names.filter(({ tag }) => tag === DNS_NAME).map(({ content }) => new TextDecoder().decode(content)),
    isCa: constraints && isCaOf(constraints),
  };
}

/** Of SubjectPublicKeyInfo. Undefined: not a public key. */
export function parsePublicKey(bytes: Uint8Array): PublicKey | undefined {
  const [algorithm, key] = inside(bytes, SEQUENCE) ?? [];
  const [name, parameter] = sequenceOf(algorithm) ?? [];
  if (name?.tag !== OID || key?.tag !== BIT_STRING) return undefined;
  const bits = key.content.subarray(1);
  switch (oidOf(name.content)) {
    case "1.3.101.112":
      return bits.length === 32 ? { type: "Ed25519" } : undefined;
    case "1.2.840.10045.2.1": {
      const curve = parameter && CURVES[oidOf(parameter.content)];
      return curve === undefined ? undefined : { type: "ECDSA", curve };
    }
    case "1.2.840.113549.1.1.1": {
      const [modulus] = inside(bits, SEQUENCE) ?? [];
      if (modulus?.tag !== INTEGER) return undefined;
      const first = modulus.content.findIndex((byte) => byte !== 0);
      return { type: "RSA", bits: (modulus.content.length - Math.max(first, 0)) * 8 };
    }
    default:
      return { type: "unknown" };
  }
}

/** The public key of a PKCS#10 request (RFC 2986), as SubjectPublicKeyInfo. Undefined: not a request. */
export function keyOfRequest(bytes: Uint8Array): Uint8Array | undefined {
  const [info, algorithm, signature] = inside(bytes, SEQUENCE) ?? [];
  if (algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING) return undefined;
  const [version, subject, key] = sequenceOf(info) ?? [];
  return version?.tag === INTEGER && subject?.tag === SEQUENCE && key?.tag === SEQUENCE ? wrapped(key) : undefined;
}

/** A sequence with its tag and length, as keys are compared and parsed. */
export function wrapped({ content }: Pick<Element, "content">): Uint8Array {
  const size: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256)) size.unshift(rest % 256);
  const head = content.length < 0x80 ? [content.length] : [0x80 | size.length, ...size];
  return Uint8Array.from([SEQUENCE, ...head, ...content]);
}

function sequenceOf(element: Element | undefined): readonly Element[] | undefined {
  return element?.tag === SEQUENCE ? elementsOf(element.content) : undefined;
}

function extensionsOf(element: Element | undefined): ReadonlyMap<string, Uint8Array> | undefined {
  if (element === undefined) return new Map();
  const found = new Map<string, Uint8Array>();
  for (const extension of inside(element.content, SEQUENCE) ?? []) {
    const parts = sequenceOf(extension);
    const [name, value] = [parts?.[0], parts?.at(-1)];
    if (name?.tag !== OID || value?.tag !== OCTET_STRING) return undefined;
    found.set(oidOf(name.content), value.content);
  }
  return found;
}

function isCaOf(constraints: Uint8Array): boolean {
  const [first] = inside(constraints, SEQUENCE) ?? [];
  return first?.tag === BOOLEAN && first.content[0] !== 0;
}

function timeOf({ tag, content }: Element): number | undefined {
  const text = new TextDecoder().decode(content);
  const [, head = "", rest = ""] = (tag === UTC_TIME ? /^(\d{2})(\d{10})Z$/ : /^(\d{4})(\d{10})Z$/).exec(text) ?? [];
  if ((tag !== UTC_TIME && tag !== GENERALIZED_TIME) || rest === "") return undefined;
  const year = tag === GENERALIZED_TIME ? Number(head) : Number(head) + (Number(head) >= 50 ? 1900 : 2000);
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = (rest.match(/../g) ?? []).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
