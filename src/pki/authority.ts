/**
 * A certificate authority: makes key pairs and signs certificates for them. EC P-256 with SHA-256; keys as PKCS#8.
 *
 * 1. A certificate is never valid longer than its CA, and starts a little early, because clocks of machines differ.
 * 2. `certify` signs a given public key (a signing request); `issue` makes the key as well.
 * 3. A CA outside of its validity signs nothing.
 */

import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import type { Clock } from "#base";
import {
  encodeCertificate,
  encodeName,
  type Issuer,
  issuerNameOf,
  keyIdentifier,
  type Subject,
  type SubjectAltNames,
  type Usage,
} from "./certificate.ts";
import { PkiError } from "./errors.ts";
import { newKey, pkcs8 } from "./keys.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;
const BACKDATE_MS = 5 * 60 * 1000;
const CA_VALIDITY_DAYS = 3650;
const LEAF_VALIDITY_DAYS = 365;

export interface KeyPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface CertificateRequest extends Subject, SubjectAltNames {
  readonly usages: readonly Usage[];
  /** Default: 365. */
  readonly validityDays?: number | undefined;
}

export interface IssueRequest extends CertificateRequest {
  /** A private key to keep; a new one is made if absent. */
  readonly key?: KeyObject | undefined;
}

export interface Authority extends KeyPair {
  readonly certificate: X509Certificate;
  /** Makes a certificate and, unless one is given, its key. */
  issue(request: IssueRequest): Promise<KeyPair>;
  /** Signs a certificate for a public key; returns its PEM. */
  certify(publicKey: KeyObject, request: CertificateRequest): Promise<string>;
}

export interface CreateAuthorityOptions {
  readonly commonName: string;
  readonly clock: Clock;
  /** Default: 3650. */
  readonly validityDays?: number | undefined;
  /** A private key to keep; a new one is made if absent. */
  readonly key?: KeyObject | undefined;
}

export async function createAuthority(options: CreateAuthorityOptions): Promise<Authority> {
  const { commonName, clock, validityDays = CA_VALIDITY_DAYS, key = newKey() } = options;
  const publicKey = createPublicKey(key);
  const issuer = { key, name: encodeName({ commonName }), keyId: keyIdentifier(publicKey) };
  const now = clock.now();
  const notAfter = now + validityDays * DAY_MS;
  const certPem = encodeCertificate(
    { commonName, publicKey, role: "ca", notBefore: now - BACKDATE_MS, notAfter },
    issuer,
  );
  return authorityOf({ certPem, keyPem: pkcs8(key) }, new X509Certificate(certPem), issuer, clock);
}

export async function loadAuthority(options: KeyPair & { readonly clock: Clock }): Promise<Authority> {
  const { certPem, keyPem, clock } = options;
  const certificate = parse("certificate", () => new X509Certificate(certPem));
  const key = parse("key", () => createPrivateKey(keyPem));
  if (!certificate.ca) throw new PkiError("The certificate is not one of a CA.");
  if (!certificate.checkPrivateKey(key)) throw new PkiError("The CA's key does not belong to its certificate.");
  const { name, keyId = keyIdentifier(certificate.publicKey) } = issuerNameOf(certificate);
  return authorityOf({ certPem, keyPem }, certificate, { key, name, keyId }, clock);
}

function authorityOf(pair: KeyPair, certificate: X509Certificate, issuer: Issuer, clock: Clock): Authority {
  const validFrom = certificate.validFromDate.getTime();
  const validTo = certificate.validToDate.getTime();

  async function certify(publicKey: KeyObject, request: CertificateRequest): Promise<string> {
    const { validityDays = LEAF_VALIDITY_DAYS, usages, ...names } = request;
    const now = clock.now();
    if (now >= validTo) throw new PkiError(`The CA expired on ${certificate.validTo} and can sign nothing any more.`);
    if (now < validFrom) {
      throw new PkiError(`The CA is valid only from ${certificate.validFrom} on: check the machine's clock.`);
    }
    const notBefore = Math.max(now - BACKDATE_MS, validFrom);
    const notAfter = Math.min(now + validityDays * DAY_MS, validTo);
    return encodeCertificate({ ...names, publicKey, role: usages, notBefore, notAfter }, issuer);
  }

  return {
    ...pair,
    certificate,
    certify,
    async issue({ key = newKey(), ...request }) {
      return { certPem: await certify(createPublicKey(key), request), keyPem: pkcs8(key) };
    },
  };
}

function parse<T>(part: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new PkiError(`The CA's ${part} is damaged or not PEM.`, error);
  }
}
