/**
 * Files of authentication that may change while the cluster runs: more authorities of clients, and the AuthenticationConfiguration.
 *
 * 1. What a changed file says counts at once; if it makes no sense, what counted before goes on counting, and the log says why.
 */
import { X509Certificate } from "node:crypto";
import type { ApiServer, ApiServerOptions } from "#apiserver";
import type { Clock, Logger, TaskGroup } from "#base";
import type { ClusterPki } from "#pki";
import { type AuthenticationFlags, parseConfiguration } from "./authentication.ts";
import { ClusterError } from "./errors.ts";
import { followFile } from "./follow-file.ts";
import { joined, readFlag } from "./read-flag.ts";

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

/** `clientCa`: who may sign certificates of clients besides the cluster's own authority. */
export function servingCertificate(pki: ClusterPki, clientCa: string | undefined): ServingCertificate {
  const { certPem } = pki.ca;
  return { ...pki.apiserver, clientCaPem: clientCa === undefined ? certPem : joined(certPem, clientCa) };
}

/** The two things that the serving certificate is made from; either may change. */
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
          log.info("a file of authentication has changed", { file });
        },
        failed: (error) => log.error("a file of authentication has changed and cannot be used", { file, error }),
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
    throw new ClusterError(`${file} holds no certificate in PEM.`, { cause: error });
  }
}
