/**
 * Encryption at rest from flags and the file that they name.
 *
 * 1. With automatic reload, a changed file counts within seconds. If it makes no sense, what counted before goes on counting, and the log says why.
 */
import { randomUUID } from "node:crypto";
import { Encryption, EncryptionConfigError, parseEncryptionConfiguration } from "#apiserver";
import type { Clock, Logger, TaskGroup } from "#base";
import { ClusterError } from "./errors.ts";
import { followFile } from "./follow-file.ts";
import { readFlag } from "./read-flag.ts";

export interface EncryptionFlags {
  /** `--encryption-provider-config`. */
  readonly file?: string;
  /** `--encryption-provider-config-automatic-reload`. */
  readonly reloads?: boolean;
}

export interface FileEncryption {
  readonly encryption: Encryption;
  /** Follows the file, if the flags say so. */
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
      const failed = (error: unknown) => log.error("a file has changed and cannot be used", { file, error });
      const changed = (next: string) => {
        const settings = settingsOf(next, file);
        background.run("changing encryption", () =>
          encryption.configure(settings).then(() => log.info("encryption has changed", { file }), failed),
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
