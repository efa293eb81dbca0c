/**
 * Client certificates: whether this authority has signed one, and its user.
 *
 * 1. TLS has verified the signatures of a chain already, but against every authority of the port. Here a path is
 *    searched from the certificate to this authority, of certificates that may sign and that are valid now.
 * 2. Authorities can be replaced at any time, which applies to open connections, too.
 * 3. The chain of a connection is walked once for each set of authorities; after that only the validity period is
 *    checked.
 * 4. The user of a certificate is one object for all connections that present it: caches use it as their key.
 */
import { X509Certificate } from "node:crypto";
import { type Clock, LruMap } from "#base";
import type { ClientCertificate } from "../http/client-certificate.ts";
import { CREDENTIAL_ID, type UserInfo, withAuthenticated } from "../identity/user.ts";
import { type RequestAuthenticator, refused } from "./verdict.ts";

export interface CertificateChecker {
  check(certificate: ClientCertificate): Checked;
}

export type Checked = Trusted | { readonly fault: string };

export interface Trusted {
  readonly commonName: string;
  /** Undefined if the certificate has no common name. */
  readonly user: UserInfo | undefined;
}

interface Walked {
  /** Of the certificate itself. */
  readonly endsMs: number;
  /** Absent: there is no path to an authority. */
  readonly valid?: Validity;
  readonly trusted: Trusted | { readonly fault: string };
}

interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

const MAX_CHAIN = 8;
const MAX_SUBJECTS = 10_000;
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USAGE = "2.5.29.37.0";
const UID = "1.3.6.1.4.1.57683.2";

export class CertificateAuthorities implements CertificateChecker {
  readonly #clock: Clock;
  readonly #onCheck: (remainingMs: number) => void;
  #authorities: readonly X509Certificate[];
  #walked = new WeakMap<ClientCertificate, Walked>();
  /** By the digest of the certificate. */
  readonly #subjects = new LruMap<string, Walked["trusted"]>(MAX_SUBJECTS);

  /** `onCheck`: called for each request with a certificate, with the time until it expires. */
  constructor(pem: string, clock: Clock, onCheck: (remainingMs: number) => void = () => {}) {
    this.#onCheck = onCheck;
    this.#authorities = parseBundle(pem);
    this.#clock = clock;
  }

  replace(pem: string): void {
    this.#authorities = parseBundle(pem);
    this.#walked = new WeakMap();
  }

  check(certificate: ClientCertificate): Checked {
    let walked = this.#walked.get(certificate);
    if (walked === undefined) {
      walked = this.#walk(certificate);
      this.#walked.set(certificate, walked);
    }
    const { valid, trusted } = walked;
    const now = this.#clock.now();
    this.#onCheck(walked.endsMs - now);
    if (valid === undefined) return fault(certificate, "x509: certificate signed by unknown authority");
    if (now < valid.fromMs || now > valid.untilMs) {
      return fault(certificate, "x509: certificate has expired or is not yet valid");
    }
    return trusted;
  }

  #walk(certificate: ClientCertificate): Walked {
    const { leaf, intermediates, verified } = certificate;
    const valid = verified ? pathTo(leaf, intermediates, this.#authorities, MAX_CHAIN) : undefined;
    const endsMs = leaf.validToDate.getTime();
    if (valid === undefined) return { endsMs, trusted: { fault: "" } };
    if (!mayBeClient(leaf))
      return { endsMs, valid, trusted: fault(certificate, "x509: certificate specifies an incompatible key usage") };
    return { endsMs, valid, trusted: this.#subjectOf(leaf) };
  }

  #subjectOf(leaf: X509Certificate): Walked["trusted"] {
    const { fingerprint256 } = leaf;
    const subject = this.#subjects.get(fingerprint256) ?? subjectOf(leaf);
    this.#subjects.set(fingerprint256, subject);
    return subject;
  }
}

/** The authenticator of users and components with a certificate of the cluster. */
export function clientCertificates(authorities: CertificateChecker): RequestAuthenticator {
  return ({ certificate }) => {
    if (certificate === undefined) return undefined;
    const checked = authorities.check(certificate);
    if ("fault" in checked) return refused(checked.fault);
    return checked.user === undefined ? undefined : { user: checked.user };
  };
}

export function parseBundle(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** How long the best path to an authority is valid; undefined if there is none. */
function pathTo(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  steps: number,
): Validity | undefined {
  const own = { fromMs: certificate.validFromDate.getTime(), untilMs: certificate.validToDate.getTime() };
  if (authorities.some(({ raw }) => raw.equals(certificate.raw))) return own;
  if (steps === 0) return undefined;
  const ways: Validity[] = [];
  for (const issuer of new Set([...authorities, ...intermediates])) {
    if (!hasSigned(issuer, certificate)) continue;
    const above = pathTo(
      issuer,
      intermediates.filter((each) => each !== issuer),
      authorities,
      steps - 1,
    );
    if (above !== undefined) {
      ways.push({ fromMs: Math.max(own.fromMs, above.fromMs), untilMs: Math.min(own.untilMs, above.untilMs) });
    }
  }
  return ways.reduce<Validity | undefined>(
    (best, way) => (best === undefined || way.untilMs > best.untilMs ? way : best),
    undefined,
  );
}

function hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** A certificate without extended key usages may be used for everything. */
function mayBeClient({ keyUsage }: X509Certificate): boolean {
  return keyUsage === undefined || keyUsage.includes(CLIENT_AUTH) || keyUsage.includes(ANY_USAGE);
}

function subjectOf(leaf: X509Certificate): Trusted | { readonly fault: string } {
  const subject = leaf.toLegacyObject().subject as Readonly<Record<string, string | readonly string[] | undefined>>;
  const values = (attribute: string) => [subject[attribute] ?? []].flat();
  // The last one counts, as in Go.
  const commonName = values("CN").at(-1) ?? "";
  const uids = values(UID);
  if (uids.length > 1) return { fault: `expected 1 UID, but found multiple: [${uids.join(" ")}]` };
  const [uid] = uids;
  if (uid === "") return { fault: "UID cannot be an empty string" };
  if (commonName === "") return { commonName, user: undefined };
  const user: UserInfo = {
    name: commonName,
    groups: values("O"),
    ...(uid !== undefined && { uid }),
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${leaf.fingerprint256.replaceAll(":", "").toLowerCase()}`] },
  };
  return { commonName, user: withAuthenticated(user) };
}

function fault({ leaf }: ClientCertificate, why: string): { readonly fault: string } {
  return { fault: `verifying certificate SN=${decimal(leaf.serialNumber)} failed: ${why}` };
}

/** Negative serial numbers are not valid (RFC 5280, 4.1.2.2), but can be sent. */
function decimal(hex: string): string {
  return hex.startsWith("-") ? `-${BigInt(`0x${hex.slice(1)}`)}` : BigInt(`0x${hex}`).toString();
}
