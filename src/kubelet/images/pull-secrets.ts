/** Registry credentials from Secrets of the types dockercfg and dockerconfigjson. */
import type { core } from "#api";
import { dockerEntries } from "./docker-config.ts";
import { type Credential, type KeyringEntry, lookup, repositoryOf } from "./keyring.ts";

/** The credentials for the image, the most specific first. */
export function credentialsFor(image: string, secrets: readonly core.Secret[]): readonly Credential[] {
  const repository = repositoryOf(image);
  return repository === undefined ? [] : lookup(secrets.flatMap(entriesOf), repository);
}

function entriesOf({ metadata, data = {}, type }: core.Secret): readonly KeyringEntry[] {
  const format = type === "kubernetes.io/dockercfg" ? "dockercfg" : "dockerconfigjson";
  const text = data[`.${format}`];
  if (text === undefined) return [];
  const { uid = "", namespace = "", name = "" } = metadata;
  const source = { kind: "secret", uid, namespace, name } as const;
  return dockerEntries(Buffer.from(text, "base64").toString(), format).map((entry) => ({ ...entry, source }));
}
