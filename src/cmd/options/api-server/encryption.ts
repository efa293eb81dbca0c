/** Encryption flags, with kube-apiserver's names. */
import { Option } from "commander";
import type { ClusterConfig } from "#cluster";
import { boolean } from "../values.ts";

export interface EncryptionOptions {
  readonly encryptionProviderConfig?: string;
  readonly encryptionProviderConfigAutomaticReload?: boolean;
}

export function encryptionOptions(): readonly Option[] {
  return [
    new Option("--encryption-provider-config <file>", "EncryptionConfiguration for data at rest"),
    new Option(
      "--encryption-provider-config-automatic-reload [boolean]",
      "reload --encryption-provider-config when the file changes",
    )
      .preset("true")
      .argParser(boolean),
  ];
}

export function encryptionFrom(options: EncryptionOptions): NonNullable<ClusterConfig["encryption"]> {
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reloads } = options;
  return { file, reloads };
}
