/** A certificate signing request for tests, with a key of its own. */
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { encodeName, pem } from "../certificate.ts";
import * as der from "../der.ts";

export interface RequestContent {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly emailAddresses?: readonly string[];
  readonly ipv4?: readonly string[];
}

export interface MadeRequest {
  readonly der: Buffer;
  readonly pem: string;
  readonly keyPem: string;
}

export function makeRequest({
  commonName,
  organizations = [],
  dnsNames = [],
  emailAddresses = [],
  ipv4 = [],
}: RequestContent): MadeRequest {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const names = [
    ...dnsNames.map((name) => der.implicit(2, Buffer.from(name))),
    ...emailAddresses.map((name) => der.implicit(1, Buffer.from(name))),
    ...ipv4.map((address) => der.implicit(7, Buffer.from(address.split(".").map(Number)))),
  ];
  const extension = der.sequence(der.oid("2.5.29.17"), der.octetString(der.sequence(...names)));
  const attribute = der.sequence(der.oid("1.2.840.113549.1.9.14"), der.set(der.sequence(extension)));
  const info = der.sequence(
    der.integer(Buffer.of(0)),
    encodeName({ commonName, organizations }),
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der.explicit(0, ...(names.length === 0 ? [] : [attribute])),
  );
  const algorithm = der.sequence(der.oid("1.2.840.10045.4.3.2"));
  const bytes = der.sequence(info, algorithm, der.bitString(sign("sha256", info, privateKey)));
  const keyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { der: bytes, pem: pem("CERTIFICATE REQUEST", bytes), keyPem };
}
