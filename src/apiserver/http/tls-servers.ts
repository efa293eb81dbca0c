/**
 * TLS of the port: which certificate a client is shown, and with which versions, ciphers and key exchanges.
 *
 * 1. A certificate is chosen by the name that the client asks for (SNI): the whole name first, then with `*` for its
 *    first label. Explicit names win over those in certificates, earlier certificates over later ones. Names that none
 *    has are answered with the default certificate.
 * 2. A client that asks for no name is shown the certificate of the address that it has connected to, if one has that
 *    address as an explicit name.
 * 3. Renewed certificates apply to new connections. If one is unusable, `renew` throws and everything stays as it was.
 */
import { X509Certificate } from "node:crypto";
import { isIP, type Socket } from "node:net";
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type SecureContextOptions,
  type SecureVersion,
  type Server,
  type TLSSocket,
  type TlsOptions,
} from "node:tls";
import { STRONG_CIPHERS } from "#base";

/** The cipher suites of Go's servers: those of TLS 1.3, then those of TLS 1.2 that are secure. */
const DEFAULT_CIPHERS = [
  ...STRONG_CIPHERS,
  ...["ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES256-SHA"],
].join(":");

export interface ServingCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  /** Empty: client certificates are ignored. */
  readonly clientCaPem: string;
  /** Other certificates, for the names that clients ask for. */
  readonly named?: readonly NamedCertificate[] | undefined;
}

export interface NamedCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  /** Domains, `*.` in front of one, or addresses. Empty: the domains in the certificate. */
  readonly names: readonly string[];
}

export interface TlsSettings {
  /** Default: TLSv1.2. */
  readonly minVersion?: SecureVersion | undefined;
  /** In the syntax of OpenSSL. Default: those of Go. */
  readonly ciphers?: string | undefined;
  /** Groups of key exchanges, in the syntax of OpenSSL. Default: those of Node. */
  readonly groups?: string | undefined;
}

export interface TlsServersOptions extends Pick<TlsOptions, "ALPNProtocols" | "handshakeTimeout"> {
  readonly certificate: ServingCertificate;
  readonly settings: TlsSettings;
  onConnection(socket: TLSSocket): void;
  /** A handshake has failed. */
  onFailure(): void;
}

export class TlsServers {
  readonly #settings: TlsSettings;
  readonly #default: Server;
  /** For clients that ask for no name, by the address that they have connected to. */
  readonly #byAddress = new Map<string, Server>();
  #contexts: ReadonlyMap<string, SecureContext>;
  #defaultContext: SecureContext;

  constructor({ certificate, settings, onConnection, onFailure, ...options }: TlsServersOptions) {
    this.#settings = settings;
    this.#contexts = contextsOf(certificate, settings);
    this.#defaultContext = createSecureContext(contextOptions(certificate, settings));
    const open = (shown: ServingCertificate) =>
      createServer({
        ...contextOptions(shown, settings),
        ...options,
        requestCert: true,
        rejectUnauthorized: false,
        SNICallback: (name, found) => found(null, this.#contextFor(name)),
      })
        .on("secureConnection", onConnection)
        .on("tlsClientError", onFailure);
    this.#default = open(certificate);
    for (const [address, named] of addresses(certificate)) this.#byAddress.set(address, open(named));
  }

  /** Begins TLS on a new connection. */
  accept(socket: Socket): void {
    const address = (socket.localAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
    (this.#byAddress.get(address) ?? this.#default).emit("connection", socket);
  }

  renew(certificate: ServingCertificate): void {
    const contexts = contextsOf(certificate, this.#settings);
    const defaultContext = createSecureContext(contextOptions(certificate, this.#settings));
    this.#default.setSecureContext(contextOptions(certificate, this.#settings));
    for (const [address, named] of addresses(certificate))
      this.#byAddress.get(address)?.setSecureContext(contextOptions(named, this.#settings));
    this.#contexts = contexts;
    this.#defaultContext = defaultContext;
  }

  #contextFor(serverName: string): SecureContext {
    const name = serverName.toLowerCase().replace(/\.$/, "");
    return this.#contexts.get(name) ?? this.#contexts.get(name.replace(/^[^.]*/, "*")) ?? this.#defaultContext;
  }
}

function contextOptions({ certPem, keyPem, clientCaPem }: ServingCertificate, settings: TlsSettings) {
  const { minVersion = "TLSv1.2", ciphers = DEFAULT_CIPHERS, groups } = settings;
  // OpenSSL has earlier versions only at its lowest level of security.
  const level = minVersion === "TLSv1" || minVersion === "TLSv1.1" ? ":@SECLEVEL=0" : "";
  const options: SecureContextOptions = {
    cert: certPem,
    key: keyPem,
    ca: clientCaPem,
    minVersion,
    ciphers: ciphers + level,
  };
  return groups === undefined ? options : { ...options, ecdhCurve: groups };
}

function contextsOf(certificate: ServingCertificate, settings: TlsSettings): ReadonlyMap<string, SecureContext> {
  const { named = [], clientCaPem } = certificate;
  const explicit = new Map<string, SecureContext>();
  const extracted = new Map<string, SecureContext>();
  for (const each of named) {
    const context = createSecureContext(contextOptions({ ...each, clientCaPem }, settings));
    const [found, names] = each.names.length > 0 ? [explicit, each.names] : [extracted, namesIn(each.certPem)];
    for (const name of names.map((one) => one.toLowerCase())) if (!found.has(name)) found.set(name, context);
  }
  return new Map([...extracted, ...explicit]);
}

/** The certificates whose explicit names are addresses. */
function addresses({ named = [], clientCaPem }: ServingCertificate): ReadonlyMap<string, ServingCertificate> {
  const found = named.flatMap((each) =>
    each.names.filter((name) => isIP(name) !== 0).map((name) => [name, { ...each, clientCaPem }] as const),
  );
  return new Map(found.reverse());
}

/** The domains in a certificate. Addresses are left out: clients cannot ask for one by name. */
function namesIn(certPem: string): readonly string[] {
  const { subject, subjectAltName = "" } = new X509Certificate(certPem);
  const commonName = /^CN=(.*)$/m.exec(subject)?.[1] ?? "";
  const isDomain = commonName === "*" || /^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(commonName);
  const alternatives = [...subjectAltName.matchAll(/(?:^|, )DNS:([^,]+)/g)].map(([, name = ""]) => name);
  return isDomain && isIP(commonName) === 0 ? [commonName, ...alternatives] : alternatives;
}
