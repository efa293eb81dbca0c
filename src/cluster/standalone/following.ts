/** Files that a standalone server follows while it runs: its certificates, and how it authenticates. */
import type { ApiServer, ApiServerOptions } from "#apiserver";
import type { MetricsRegistry, TaskGroup } from "#base";
import { type AuthenticationFlags, parseConfiguration } from "../config/authentication.ts";
import type { Environment } from "../config/cluster-config.ts";
import { followFile } from "../config/flag-files.ts";
import { namedFiles } from "../config/named-certificates.ts";
import { type ReloadMetrics, reloadMetrics } from "../config/reload-metrics.ts";
import type { ServingSettings } from "../config/serving.ts";
import type { ServingFiles } from "../config/serving-files.ts";

export interface Following extends Pick<Environment, "clock" | "log"> {
  readonly server: ApiServer;
  readonly background: TaskGroup;
  readonly metrics: MetricsRegistry;
}

interface KnownFile {
  readonly file: string;
  readonly text: string;
}

/** The files that the serving certificate is read from, with what they held. */
export function servedFiles(
  { cert, key, clientCa }: ServingFiles,
  { serving }: { readonly serving?: ServingSettings | undefined },
  { certPem, keyPem, clientCaPem, named }: ApiServerOptions["certificate"],
): readonly KnownFile[] {
  return [
    { file: cert, text: certPem },
    { file: key, text: keyPem },
    ...(clientCa === undefined ? [] : [{ file: clientCa, text: clientCaPem }]),
    ...namedFiles(serving?.namedCertificates, named),
  ];
}

/** Renewed certificates on disk apply to new connections. */
export function followServing(
  files: readonly KnownFile[],
  read: () => Promise<ApiServerOptions["certificate"]>,
  following: Following,
): void {
  const { server, background } = following;
  const reread = (failed: (error: unknown) => void) =>
    background.run("reading certificates", async () => {
      try {
        server.renewCertificate(await read());
      } catch (error) {
        // A certificate and its key change one after the other: the second change succeeds.
        failed(error);
      }
    });
  for (const { file, text } of files) follow(file, text, (_, failed) => reread(failed), following);
}

export function followConfiguration(flags: AuthenticationFlags, known: string | undefined, following: Following): void {
  const { authenticationConfig: file } = flags;
  if (file === undefined || known === undefined) return;
  const { server, metrics, clock } = following;
  const changed = (text: string) => server.configureAuthentication(parseConfiguration(text, flags), file);
  const counts = reloadMetrics("authentication", { metrics, clock, port: server.port });
  follow(file, known, changed, following, counts);
}

function follow(
  file: string,
  known: string,
  changed: (text: string, failed: (error: unknown) => void) => void,
  { background, clock, log }: Following,
  counts?: ReloadMetrics,
): void {
  const failed = (error: unknown) => {
    counts?.reloaded(false);
    log.error("a file has changed and is invalid; the previous one stays in effect", { file, error });
  };
  const apply = (text: string) => {
    changed(text, failed);
    counts?.reloaded(true);
  };
  background.run(`following ${file}`, (signal) => followFile(file, { clock, signal, known, changed: apply, failed }));
}
