/**
 * Encryption at rest from flags and the file that they name.
 *
 * 1. With automatic reload, a changed file applies within seconds. If it is invalid, the previous content stays in
 *    effect, and the error is logged.
 */
import { randomUUID } from "node:crypto";
import { Encryption, EncryptionConfigError, parseEncryptionConfiguration } from "#apiserver";
import type { Clock, Logger, TaskGroup } from "#base";
import { ClusterError } from "./errors.ts";
import { followFile, readFlag } from "./flag-files.ts";

export interface EncryptionFlags {
  /** `--encryption-provider-config`. */
  readonly file?: string | undefined;
  /** `--encryption-provider-config-automatic-reload`. */
  readonly reloads?: boolean | undefined;
}

export interface FileEncryption {
  readonly encryption: Encryption;
  /** Reloads the file when it changes, if automatic reload is on. */
  follow(background: TaskGroup): void;
}

export async function openEncryption(
  { file, reloads = false }: EncryptionFlags,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<FileEncryption | undefined> {
  if (file === undefined && reloads) {
    throw new ClusterError(
      "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config",
    );
  }
  if (file === undefined) return undefined;
  const text = await readFlag("--encryption-provider-config", file);
  const encryption = await Encryption.open(settingsOf(text, file), { clock, log, newUid: randomUUID });
  return {
    encryption,
    follow: (background) => {
      if (!reloads) return;
      const failed = (error: unknown) =>
        log.error("a file has changed and is invalid; the previous one stays in effect", { file, error });
      const changed = (next: string) => {
        const settings = settingsOf(next, file);
        background.run("changing encryption", () =>
          encryption.configure(settings).then(() => log.info("encryption was reconfigured", { file }), failed),
        );
      };
      background.run(`following ${file}`, (signal) =>
        followFile(file, { clock, signal, known: text, changed, failed }),
      );
    },
  };
}

function settingsOf(text: string, file: string) {
  try {
    return parseEncryptionConfiguration(text, file);
  } catch (error) {
    if (!(error instanceof EncryptionConfigError)) throw error;
    throw new ClusterError(error.message, { cause: error });
  }
}
