/**
 * Certificate signing requests (PKCS#10, RFC 2986): read, and signed for a key that stays where it is.
 *
 * 1. A request whose signature does not match its key is refused: its sender may not hold the key.
 * 2. Subject and alternative names are copied; usages and times come from the signer; all other extensions are dropped.
 * 3. No certificate from here can sign others or outlive its authority.
 */

import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
  X509Certificate,
} from "node:crypto";
import { table } from "#base";
import type { KeyPair } from "./authority.ts";
import { issuerNameOf, keyIdentifier, pem, signatureAlgorithm } from "./certificate.ts";
import * as der from "./der.ts";
import { PkiError } from "./errors.ts";

export interface ReadRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

export interface SignRequestOptions {
  /** By their names in the API: `client auth`, `digital signature`. */
  readonly usages: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
}

const NO_REQUEST = "This is no certificate request.";
const [INTEGER, BIT_STRING, SEQUENCE] = [0x02, 0x03, 0x30];
const COMMON_NAME = der.oid("2.5.4.3");
const ORGANIZATION = der.oid("2.5.4.10");
const EXTENSION_REQUEST = der.oid("1.2.840.113549.1.9.14");
const SUBJECT_ALT_NAME = der.oid("2.5.29.17");
/** Tags of the alternative names that are copied. */
const NAME_TAGS = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;
const HASHES: Readonly<Record<string, string | null>> = table({
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.3.101.112": null,
});
/** Bit numbers of RFC 5280 4.2.1.3. */
const KEY_USAGES: Readonly<Record<string, number>> = table({
  signing: 0,
  "digital signature": 0,
  "content commitment": 1,
  "key encipherment": 2,
  "data encipherment": 3,
  "key agreement": 4,
  "cert sign": 5,
  "crl sign": 6,
  "encipher only": 7,
  "decipher only": 8,
});
const EXTENDED_USAGES: Readonly<Record<string, string>> = table({
  any: "2.5.29.37.0",
  "server auth": "1.3.6.1.5.5.7.3.1",
  "client auth": "1.3.6.1.5.5.7.3.2",
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  "s/mime": "1.3.6.1.5.5.7.3.4",
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  timestamping: "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
});

/** Throws PkiError if the bytes are not a request, or its key has not signed it. */
export function readSigningRequest(bytes: Buffer): ReadRequest {
  return damaged(() => {
    const { subject, altNames } = parsed(bytes);
    const attributes = der.elements(subject.content).flatMap(({ content }) => der.elements(content));
    const values = (type: Buffer) =>
      attributes.flatMap(({ content }) => {
        const [id, value] = der.elements(content);
        return id?.raw.equals(type) && value !== undefined ? [value.content.toString("utf8")] : [];
      });
    const names = (tag: number) => altNames.filter((name) => name.tag === tag).map(({ content }) => content);
    const texts = (tag: number) => names(tag).map((content) => content.toString("latin1"));
    return {
      commonName: values(COMMON_NAME).at(-1) ?? "",
      organizations: values(ORGANIZATION),
      dnsNames: texts(NAME_TAGS.dns),
      ipAddresses: names(NAME_TAGS.ip).map(addressOf),
      emailAddresses: texts(NAME_TAGS.email),
      uris: texts(NAME_TAGS.uri),
    };
  });
}

/** The certificate's PEM. */
export function signRequest(authority: KeyPair, bytes: Buffer, options: SignRequestOptions): string {
  const ca = new X509Certificate(authority.certPem);
  const { name, keyId = keyIdentifier(ca.publicKey) } = issuerNameOf(ca);
  const { subject, publicKey, spki, altNames } = damaged(() => parsed(bytes));
  const notAfter = Math.min(options.notAfter, ca.validToDate.getTime());
  if (notAfter <= options.notBefore) throw new PkiError("The authority has expired and can sign nothing any more.");
  const known = altNames
    .filter(({ tag }) => (Object.values(NAME_TAGS) as number[]).includes(tag))
    .map(({ raw }) => raw);
  const extended = extendedUsages(options.usages);
  const bits = keyUsages(options.usages);
  const extensions = [
    ...(bits.length === 0 ? [] : [extension("2.5.29.15", der.namedBits(bits), true)]),
    ...(extended.length === 0 ? [] : [extension("2.5.29.37", der.sequence(...extended.map(der.oid)))]),
    extension("2.5.29.19", der.sequence(), true),
    extension("2.5.29.14", der.octetString(keyIdentifier(publicKey))),
    extension("2.5.29.35", der.sequence(der.implicit(0, keyId))),
    ...(known.length === 0 ? [] : [extension("2.5.29.17", der.sequence(...known), subject.content.length === 0)]),
  ];
  const key = createPrivateKey(authority.keyPem);
  const algorithm = signatureAlgorithm(key);
  const content = der.sequence(
    der.explicit(0, der.integer(Buffer.of(2))),
    der.integer(randomBytes(16)),
    algorithm,
    name,
    der.sequence(der.time(options.notBefore), der.time(notAfter)),
    subject.raw,
    spki,
    der.explicit(3, der.sequence(...extensions)),
  );
  return pem("CERTIFICATE", der.sequence(content, algorithm, der.bitString(sign("sha256", content, key))));
}

interface Parsed {
  readonly subject: der.Element;
  readonly spki: Buffer;
  readonly publicKey: KeyObject;
  readonly altNames: readonly der.Element[];
}

function parsed(bytes: Buffer): Parsed {
  const [whole, ...more] = der.elements(bytes);
  const [info, algorithm, signature] = whole === undefined ? [] : der.elements(whole.content);
  const [version, subject, key, attributes] = info === undefined ? [] : der.elements(info.content);
  if (info === undefined || algorithm === undefined || signature === undefined) throw new PkiError(NO_REQUEST);
  const sequences = [whole, info, algorithm, subject, key].every((element) => element?.tag === SEQUENCE);
  const bits = signature.tag === BIT_STRING && signature.content[0] === 0;
  if (more.length > 0 || !sequences || !bits || version?.tag !== INTEGER || subject === undefined || key === undefined)
    throw new PkiError(NO_REQUEST);
  const publicKey = createPublicKey({ key: key.raw, format: "der", type: "spki" });
  const id = der.elements(algorithm.content)[0]?.raw;
  const [, hash] = Object.entries(HASHES).find(([dotted]) => id?.equals(der.oid(dotted))) ?? [];
  if (hash === undefined)
    throw new PkiError("The certificate request is signed by an algorithm that is not supported.");
  if (!verify(hash, info.raw, publicKey, signature.content.subarray(1)))
    throw new PkiError("The signature of the certificate request does not fit its key.");
  return { subject, spki: key.raw, publicKey, altNames: altNamesOf(attributes) };
}

function altNamesOf(attributes: der.Element | undefined): readonly der.Element[] {
  for (const attribute of attributes === undefined ? [] : der.elements(attributes.content)) {
    const [type, values] = der.elements(attribute.content);
    if (!type?.raw.equals(EXTENSION_REQUEST) || values === undefined) continue;
    for (const one of der.elements(der.elements(values.content)[0]?.content ?? Buffer.alloc(0))) {
      const parts = der.elements(one.content);
      const value = parts.at(-1);
      if (parts[0]?.raw.equals(SUBJECT_ALT_NAME) && value !== undefined)
        return der.elements(der.elements(value.content)[0]?.content ?? Buffer.alloc(0));
    }
  }
  return [];
}

function keyUsages(usages: readonly string[]): number[] {
  const bits = usages.flatMap((usage) => KEY_USAGES[usage] ?? []);
  return [...new Set(bits)].sort((a, b) => a - b);
}

function extendedUsages(usages: readonly string[]): readonly string[] {
  const unknown = usages.filter((usage) => KEY_USAGES[usage] === undefined && EXTENDED_USAGES[usage] === undefined);
  if (unknown.length > 0)
    throw new PkiError(`unrecognized usage values: [${unknown.map((one) => `"${one}"`).join(" ")}]`);
  return [...new Set(usages.flatMap((usage) => EXTENDED_USAGES[usage] ?? []))].sort();
}

function extension(type: string, value: Buffer, critical = false): Buffer {
  return der.sequence(der.oid(type), ...(critical ? [der.derTrue()] : []), der.octetString(value));
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

function damaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PkiError) throw error;
    throw new PkiError("The certificate request is damaged.", error);
  }
}
