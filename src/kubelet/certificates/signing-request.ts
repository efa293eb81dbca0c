/**
 * A certificate signing request (PKCS#10, RFC 2986) with a new key: common name, organizations, and for servers the
 * subjectAltNames.
 */
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { isIPv6 } from "node:net";

export interface MadeSigningRequest {
  readonly pem: string;
  readonly keyPem: string;
}

export interface ServerNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const [INTEGER, BIT_STRING, OCTETS, OID, UTF8] = [0x02, 0x03, 0x04, 0x06, 0x0c];
const [SEQUENCE, SET, ATTRIBUTES] = [0x30, 0x31, 0xa0];
/** GeneralName tags: dNSName, iPAddress. */
const [DNS_NAME, IP_ADDRESS] = [0x82, 0x87];
/** extensionRequest (PKCS#9), subjectAltName. */
const EXTENSION_REQUEST = Buffer.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e);
const ALT_NAMES = Buffer.of(0x55, 0x1d, 0x11);
const COMMON_NAME = Buffer.of(0x55, 0x04, 0x03);
const ORGANIZATION = Buffer.of(0x55, 0x04, 0x0a);
/** ecdsa-with-SHA256. */
const SIGNATURE = Buffer.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02);

export function makeSigningRequest(
  commonName: string,
  organizations: readonly string[],
  names?: ServerNames,
): MadeSigningRequest {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = der(
    SEQUENCE,
    ...organizations.map((each) => nameEntry(ORGANIZATION, each)),
    nameEntry(COMMON_NAME, commonName),
  );
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const info = der(SEQUENCE, der(INTEGER, Buffer.of(0)), name, publicKey, der(ATTRIBUTES, ...attributes(names)));
  const signature = der(BIT_STRING, Buffer.of(0), sign("sha256", info, privateKey));
  const request = der(SEQUENCE, info, der(SEQUENCE, der(OID, SIGNATURE)), signature);
  const lines = request.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    pem: ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""].join("\n"),
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function attributes(names: ServerNames | undefined): readonly Buffer[] {
  if (names === undefined) return [];
  const all = der(
    SEQUENCE,
    ...names.dnsNames.map((name) => der(DNS_NAME, Buffer.from(name))),
    ...names.ipAddresses.map((address) => der(IP_ADDRESS, addressBytes(address))),
  );
  const extensions = der(SEQUENCE, der(SEQUENCE, der(OID, ALT_NAMES), der(OCTETS, all)));
  return [der(SEQUENCE, der(OID, EXTENSION_REQUEST), der(SET, extensions))];
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  const [before = "", after] = address.split("::");
  const parts = (text: string) => (text === "" ? [] : text.split(":").map((part) => Number.parseInt(part, 16)));
  const [head, tail] = [parts(before), parts(after ?? "")];
  const groups = [...head, ...Array<number>(after === undefined ? 0 : 8 - head.length - tail.length).fill(0), ...tail];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function nameEntry(type: Buffer, text: string): Buffer {
  return der(SET, der(SEQUENCE, der(OID, type), der(UTF8, Buffer.from(text))));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag, ...length(content.length)), content]);
}

function length(size: number): number[] {
  if (size < 0x80) return [size];
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}
