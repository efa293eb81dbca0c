/**
 * X.509 v3 certificates (RFC 5280) as bytes: what goes in is data, what comes out is signed PEM.
 *
 * node:crypto makes keys, signs, and reads certificates, but cannot write them; the DER in between is small enough to
 * stand here, and costs a start-up nothing, where a general ASN.1 library costs a tenth of a second and 20 MB.
 *
 * 1. Issuer and key identifier are taken from the CA's own bytes: verifiers compare names byte by byte.
 * 2. Every certificate says whether it is a CA and what its key may do, both marked critical.
 */

import { createHash, type KeyObject, randomBytes, sign, type X509Certificate } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import * as der from "./der.ts";
import { PkiError } from "./errors.ts";

export type Usage = "server" | "client";

export interface Subject {
  readonly commonName: string;
  /** Kubernetes reads them as the groups of a user. */
  readonly organizations?: readonly string[];
}

export interface SubjectAltNames {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

export interface CertificateContent extends Subject, SubjectAltNames {
  readonly publicKey: KeyObject;
  /** "ca", or what a leaf may be used for. */
  readonly role: "ca" | readonly Usage[];
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Issuer {
  readonly key: KeyObject;
  /** The DER of its subject. */
  readonly name: Buffer;
  readonly keyId: Buffer;
}

const OID = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extKeyUsage: "2.5.29.37",
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  rsaWithSha256: "1.2.840.113549.1.1.11",
} as const;

/** Bit numbers of RFC 5280 4.2.1.3. */
const KEY_USAGE = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5, cRLSign: 6 } as const;

const VERSION_3 = Buffer.from([2]);
const SERIAL_BYTES = 16;

export function encodeCertificate(content: CertificateContent, issuer: Issuer): string {
  const algorithm = signatureAlgorithm(issuer.key);
  const tbs = der.sequence(
    der.explicit(0, der.integer(VERSION_3)),
    der.integer(randomBytes(SERIAL_BYTES)),
    algorithm,
    issuer.name,
    der.sequence(der.time(content.notBefore), der.time(content.notAfter)),
    encodeName(content),
    content.publicKey.export({ type: "spki", format: "der" }),
    der.explicit(3, der.sequence(...extensions(content, issuer))),
  );
  const signature = sign("sha256", tbs, issuer.key);
  return pem("CERTIFICATE", der.sequence(tbs, algorithm, der.bitString(signature)));
}

/** RFC 7093: the left 160 bits of the SHA-256 of the key's bits. */
export function keyIdentifier(publicKey: KeyObject): Buffer {
  const [spki] = der.elements(publicKey.export({ type: "spki", format: "der" }));
  const bits = spki && der.elements(spki.content)[1];
  if (bits === undefined) throw new PkiError("The public key has no key bits.");
  return createHash("sha256").update(bits.content.subarray(1)).digest().subarray(0, 20);
}

/** The bytes of an existing certificate's subject and, if it names one, its key identifier. Throws PkiError. */
export function issuerNameOf(certificate: X509Certificate): {
  readonly name: Buffer;
  readonly keyId: Buffer | undefined;
} {
  try {
    return namesIn(certificate.raw);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PkiError("The certificate is damaged.", error);
  }
}

function namesIn(certificate: Buffer): { readonly name: Buffer; readonly keyId: Buffer | undefined } {
  const tbs = der.elements(certificate)[0]?.content ?? Buffer.alloc(0);
  const fields = der.elements(der.elements(tbs)[0]?.content ?? Buffer.alloc(0));
  const name = fields[5]?.raw;
  if (name === undefined || fields[0]?.tag !== 0xa0) throw new PkiError("The certificate is not of X.509 version 3.");
  const list = fields.find((field) => field.tag === 0xa3)?.content ?? Buffer.alloc(0);
  const wanted = der.oid(OID.subjectKeyIdentifier);
  for (const extension of der.elements(der.elements(list)[0]?.content ?? Buffer.alloc(0))) {
    const parts = der.elements(extension.content);
    const value = parts.at(-1)?.content;
    if (parts[0]?.raw.equals(wanted) && value !== undefined) return { name, keyId: der.elements(value)[0]?.content };
  }
  return { name, keyId: undefined };
}

export function encodeName(subject: Subject): Buffer {
  const attribute = (type: string, value: string) => der.set(der.sequence(der.oid(type), der.utf8String(value)));
  return der.sequence(
    ...(subject.organizations ?? []).map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, subject.commonName),
  );
}

export function signatureAlgorithm(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === "ec") return der.sequence(der.oid(OID.ecdsaWithSha256));
  if (key.asymmetricKeyType === "rsa") return der.sequence(der.oid(OID.rsaWithSha256), der.derNull());
  throw new PkiError(`A CA key of type ${key.asymmetricKeyType} is not supported: use an EC or an RSA key.`);
}

function extensions(content: CertificateContent, issuer: Issuer): Buffer[] {
  const { role } = content;
  const names = altNames(content);
  const list = [
    critical(OID.basicConstraints, role === "ca" ? der.sequence(der.derTrue()) : der.sequence()),
    critical(OID.keyUsage, der.namedBits(keyUsage(content))),
  ];
  if (role !== "ca") list.push(plain(OID.extKeyUsage, der.sequence(...role.map((usage) => der.oid(OID[usage])))));
  list.push(
    plain(OID.subjectKeyIdentifier, der.octetString(keyIdentifier(content.publicKey))),
    plain(OID.authorityKeyIdentifier, der.sequence(der.implicit(0, issuer.keyId))),
  );
  if (names.length > 0) list.push(plain(OID.subjectAltName, der.sequence(...names)));
  return list;
}

function keyUsage({ role, publicKey }: CertificateContent): number[] {
  const { digitalSignature, keyEncipherment, keyCertSign, cRLSign } = KEY_USAGE;
  if (role === "ca") return [digitalSignature, keyCertSign, cRLSign];
  // Only RSA keys can wrap a session key; elliptic keys just sign.
  return publicKey.asymmetricKeyType === "rsa" ? [digitalSignature, keyEncipherment] : [digitalSignature];
}

const plain = (type: string, value: Buffer) => der.sequence(der.oid(type), der.octetString(value));
const critical = (type: string, value: Buffer) => der.sequence(der.oid(type), der.derTrue(), der.octetString(value));

export function altNames({ dnsNames = [], ipAddresses = [] }: SubjectAltNames): Buffer[] {
  return [
    ...dnsNames.map((name) => der.implicit(2, dnsBytes(name))),
    ...ipAddresses.map((address) => der.implicit(7, ipBytes(address))),
  ];
}

function dnsBytes(name: string): Buffer {
  if (!/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name)) throw new PkiError(`"${name}" is not a DNS name.`);
  return Buffer.from(name, "ascii");
}

function ipBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  if (!isIPv6(address) || address.includes("%")) throw new PkiError(`"${address}" is not an IP address.`);
  // The URL parser turns every spelling (IPv4 at the end, upper case) into hex groups with at most one "::".
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string | undefined) => (text ? text.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const left = groups(head);
  const right = groups(tail);
  const bytes = Buffer.alloc(16);
  left.forEach((group, i) => {
    bytes.writeUInt16BE(group, i * 2);
  });
  right.forEach((group, i) => {
    bytes.writeUInt16BE(group, 16 - (right.length - i) * 2);
  });
  return bytes;
}

export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
