/** A certificate signing request (PKCS#10, RFC 2986) with a new key, for a client: a common name and organizations. */
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";

export interface MadeSigningRequest {
  readonly pem: string;
  readonly keyPem: string;
}

const [INTEGER, BIT_STRING, OID, UTF8, SEQUENCE, SET, ATTRIBUTES] = [0x02, 0x03, 0x06, 0x0c, 0x30, 0x31, 0xa0];
const COMMON_NAME = Buffer.of(0x55, 0x04, 0x03);
const ORGANIZATION = Buffer.of(0x55, 0x04, 0x0a);
/** ecdsa-with-SHA256. */
const SIGNATURE = Buffer.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02);

export function makeSigningRequest(commonName: string, organizations: readonly string[]): MadeSigningRequest {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = der(
    SEQUENCE,
    ...organizations.map((each) => nameEntry(ORGANIZATION, each)),
    nameEntry(COMMON_NAME, commonName),
  );
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const info = der(SEQUENCE, der(INTEGER, Buffer.of(0)), name, publicKey, der(ATTRIBUTES));
  const signature = der(BIT_STRING, Buffer.of(0), sign("sha256", info, privateKey));
  const request = der(SEQUENCE, info, der(SEQUENCE, der(OID, SIGNATURE)), signature);
  const lines = request.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    pem: ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""].join("\n"),
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
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
