/**
 * Authentication files that are reloaded while the cluster runs: client CAs and the AuthenticationConfiguration.
 *
 * 1. A changed file applies at once. If it is invalid, the previous content stays in effect, and the error is logged.
 */
import { X509Certificate } from "node:crypto";
import type { ApiServer, ApiServerOptions } from "#apiserver";
import type { Clock, Logger, TaskGroup } from "#base";
import type { ClusterPki } from "#pki";
import { type AuthenticationFlags, parseConfiguration } from "./authentication.ts";
import { ClusterError } from "./errors.ts";
import { followFile, joined, readFlag } from "./flag-files.ts";

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

/** `clientCa`: CAs of client certificates besides the cluster's own. */
export function servingCertificate(pki: ClusterPki, clientCa: string | undefined): ServingCertificate {
  const { certPem } = pki.ca;
  return { ...pki.apiserver, clientCaPem: clientCa === undefined ? certPem : joined(certPem, clientCa) };
}

/** The serving certificate depends on the cluster's PKI and the client CAs; either may change. */
export class ClientAuthorities {
  #pki: ClusterPki;
  #clientCa: string | undefined;
  readonly #apply: (certificate: ServingCertificate) => void;

  constructor(pki: ClusterPki, clientCa: string | undefined, apply: (certificate: ServingCertificate) => void) {
    this.#pki = pki;
    this.#clientCa = clientCa;
    this.#apply = apply;
  }

  renew(pki: ClusterPki): void {
    this.#apply(servingCertificate(pki, this.#clientCa));
    this.#pki = pki;
  }

  replace(clientCa: string): void {
    this.#apply(servingCertificate(this.#pki, clientCa));
    this.#clientCa = clientCa;
  }
}

export interface FollowOptions {
  readonly background: TaskGroup;
  readonly clients: ClientAuthorities;
  readonly server: ApiServer;
  readonly clock: Clock;
  readonly log: Logger;
}

export function followAuthentication(
  flags: AuthenticationFlags,
  { clientCa = "", configuration = "" }: ChangingFiles,
  { background, clients, server, clock, log }: FollowOptions,
): void {
  const follow = (file: string, known: string, changed: (text: string) => void) =>
    background.run(`following ${file}`, (signal) =>
      followFile(file, {
        clock,
        signal,
        known,
        changed: (text) => {
          changed(text);
          log.info("an authentication file was reloaded", { file });
        },
        failed: (error) =>
          log.error("an authentication file has changed and is invalid; the previous one stays in effect", {
            file,
            error,
          }),
      }),
    );
  const { clientCaFile, authenticationConfig } = flags;
  if (clientCaFile !== undefined) {
    follow(clientCaFile, clientCa, (text) => clients.replace(bundleIn(text, clientCaFile)));
  }
  if (authenticationConfig !== undefined) {
    follow(authenticationConfig, configuration, (text) =>
      server.configureAuthentication(parseConfiguration(text, flags), authenticationConfig),
    );
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
