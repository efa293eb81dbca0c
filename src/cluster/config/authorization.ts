/**
 * Authorization modes from flags and the files that they name, and the AuthorizationConfiguration while it changes.
 *
 * 1. A changed file applies within seconds. If it is invalid, the previous modes stay in force, and the error is
 *    logged and counted.
 */
import {
  type ApiServer,
  AuthorizationConfigError,
  type AuthorizationFlags,
  type ModeSpec,
  readAuthorization,
} from "#apiserver";
import type { Clock, Logger, MetricsRegistry, TaskGroup } from "#base";
import { ClusterError } from "./errors.ts";
import { followFile, readFlag } from "./flag-files.ts";
import { reloadMetrics } from "./reload-metrics.ts";

export interface ReadAuthorization {
  readonly modes: readonly ModeSpec[];
  /** The text of the AuthorizationConfiguration, if a flag names one. */
  readonly configuration: string | undefined;
}

export async function readModes(flags: AuthorizationFlags): Promise<ReadAuthorization> {
  const { authorizationConfig: file } = flags;
  try {
    // Read first: a change in between is found when the file is followed.
    const configuration = file === undefined ? undefined : await readFlag("--authorization-config", file);
    return { modes: await readAuthorization(flags), configuration };
  } catch (error) {
    if (!(error instanceof AuthorizationConfigError)) throw error;
    throw new ClusterError(error.message, { cause: error });
  }
}

export interface FollowAuthorizationOptions {
  readonly server: Pick<ApiServer, "port" | "configureAuthorization">;
  readonly background: TaskGroup;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** `known`: what the configuration was when the server started. */
export function followAuthorization(
  flags: AuthorizationFlags,
  known: string | undefined,
  { server, background, metrics, clock, log }: FollowAuthorizationOptions,
): void {
  const { authorizationConfig: file } = flags;
  if (file === undefined || known === undefined) return;
  const counts = reloadMetrics("authorization", { metrics, clock, port: server.port });
  // As upstream, which counts the start.
  counts.reloaded(true);
  const changed = async () => {
    server.configureAuthorization(await readAuthorization(flags));
    counts.reloaded(true);
    log.info("reloaded authorization config", { file });
  };
  const failed = (error: unknown) => {
    counts.reloaded(false);
    log.error("reloading authorization config: the previous one stays in effect", { file, error });
  };
  background.run(`following ${file}`, (signal) => followFile(file, { clock, signal, known, changed, failed }));
}
