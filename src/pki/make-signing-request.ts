/** A certificate signing request (PKCS#10, RFC 2986) with a new key. */
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { altNames, encodeName, pem, type Subject, type SubjectAltNames, signatureAlgorithm } from "./certificate.ts";
import * as der from "./der.ts";

export interface MadeSigningRequest {
  readonly pem: string;
  readonly keyPem: string;
}

const VERSION_1 = Buffer.of(0);
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const SUBJECT_ALT_NAME = "2.5.29.17";

/** `names`: of a server. */
export function makeSigningRequest(subject: Subject, names: SubjectAltNames = {}): MadeSigningRequest {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const info = der.sequence(
    der.integer(VERSION_1),
    encodeName(subject),
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der.explicit(0, ...attributes(altNames(names))),
  );
  const signature = der.bitString(sign("sha256", info, privateKey));
  return {
    pem: pem("CERTIFICATE REQUEST", der.sequence(info, signatureAlgorithm(privateKey), signature)),
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function attributes(names: readonly Buffer[]): readonly Buffer[] {
  if (names.length === 0) return [];
  const extension = der.sequence(der.oid(SUBJECT_ALT_NAME), der.octetString(der.sequence(...names)));
  return [der.sequence(der.oid(EXTENSION_REQUEST), der.set(der.sequence(extension)))];
}
