/**
 * Files that are reloaded while the cluster runs: client CAs, the AuthenticationConfiguration, certificates for names.
 *
 * 1. A changed file applies at once. If it is invalid, the previous content stays in effect, and the error is logged.
 */
import { X509Certificate } from "node:crypto";
import type { ApiServer, ApiServerOptions, NamedCertificate } from "#apiserver";
import type { Clock, Logger, MetricsRegistry, TaskGroup } from "#base";
import { type AuthenticationFlags, parseConfiguration } from "./authentication.ts";
import { ClusterError } from "./errors.ts";
import { followFile, joined, readFlag } from "./flag-files.ts";
import { type NamedCertificateFiles, namedFiles, readNamed } from "./named-certificates.ts";
import { type ReloadMetrics, reloadMetrics } from "./reload-metrics.ts";
import type { ServingPki } from "./serving-pki.ts";

type ServingCertificate = ApiServerOptions["certificate"];

/** As they are now. */
export interface ChangingFiles {
  readonly clientCa: string | undefined;
  readonly configuration: string | undefined;
}

export async function readChangingFiles(flags: AuthenticationFlags): Promise<ChangingFiles> {
  const { clientCaFile, authenticationConfig } = flags;
  return {
    clientCa:
      clientCaFile === undefined ? undefined : bundleIn(await readFlag("--client-ca-file", clientCaFile), clientCaFile),
    configuration:
      authenticationConfig === undefined ? undefined : await readFlag("--authentication-config", authenticationConfig),
  };
}

/** What the serving certificate is made from. Each may change. */
export interface CertificateParts {
  readonly pki: ServingPki;
  /** CAs of client certificates besides the cluster's own. */
  readonly clientCa: string | undefined;
  readonly named: readonly NamedCertificate[];
}

export function servingCertificate({ pki, clientCa, named }: CertificateParts): ServingCertificate {
  const { certPem } = pki.ca;
  return { ...pki.apiserver, clientCaPem: clientCa === undefined ? certPem : joined(certPem, clientCa), named };
}

/** Keeps the parts, and applies the certificate when one of them changes. */
export class CurrentCertificate {
  #parts: CertificateParts;
  readonly #apply: (certificate: ServingCertificate) => void;

  constructor(parts: CertificateParts, apply: (certificate: ServingCertificate) => void) {
    this.#parts = parts;
    this.#apply = apply;
  }

  replace(changed: Partial<CertificateParts>): void {
    const parts = { ...this.#parts, ...changed };
    this.#apply(servingCertificate(parts));
    this.#parts = parts;
  }
}

export interface FollowOptions {
  readonly background: TaskGroup;
  readonly certificate: CurrentCertificate;
  readonly server: ApiServer;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

export function followAuthentication(
  flags: AuthenticationFlags,
  { clientCa = "", configuration = "" }: ChangingFiles,
  { background, certificate, server, metrics, clock, log }: FollowOptions,
): void {
  const follow = (file: string, known: string, changed: (text: string) => void, counts?: ReloadMetrics) =>
    background.run(`following ${file}`, (signal) =>
      followFile(file, {
        clock,
        signal,
        known,
        changed: (text) => {
          changed(text);
          counts?.reloaded(true);
          log.info("an authentication file was reloaded", { file });
        },
        failed: (error) => {
          counts?.reloaded(false);
          log.error("an authentication file has changed and is invalid; the previous one stays in effect", {
            file,
            error,
          });
        },
      }),
    );
  const { clientCaFile, authenticationConfig } = flags;
  if (clientCaFile !== undefined) {
    follow(clientCaFile, clientCa, (text) => certificate.replace({ clientCa: bundleIn(text, clientCaFile) }));
  }
  if (authenticationConfig !== undefined) {
    const configure = (text: string) =>
      server.configureAuthentication(parseConfiguration(text, flags), authenticationConfig);
    const counts = reloadMetrics("authentication", { metrics, clock, port: server.port });
    follow(authenticationConfig, configuration, configure, counts);
  }
}

export function followNamed(
  files: readonly NamedCertificateFiles[] | undefined,
  read: readonly NamedCertificate[],
  { background, certificate, clock, log }: Omit<FollowOptions, "server" | "metrics">,
): void {
  for (const { file, text: known } of namedFiles(files, read)) {
    const failed = (error: unknown) =>
      log.error("a certificate for a name has changed and is invalid; the previous one stays in effect", {
        file,
        error,
      });
    const changed = () =>
      background.run("reading certificates", async () => {
        try {
          certificate.replace({ named: await readNamed(files) });
        } catch (error) {
          // A certificate and its key change one after the other: the second change succeeds.
          failed(error);
        }
      });
    background.run(`following ${file}`, (signal) => followFile(file, { clock, signal, known, changed, failed }));
  }
}

function bundleIn(text: string, file: string): string {
  try {
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new ClusterError(`${file} contains no PEM certificate.`, { cause: error });
  }
}
