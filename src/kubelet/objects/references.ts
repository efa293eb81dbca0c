/** The names of the ConfigMaps and Secrets that a Pod refers to. */
import type { core } from "#api";
import { envReferences } from "../containers/index.ts";

export interface PodReferences {
  readonly configMaps: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
}

export function podReferences({ spec }: core.Pod): PodReferences {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  const {
    initContainers = [],
    containers = [],
    ephemeralContainers = [],
    volumes = [],
    imagePullSecrets = [],
  } = spec ?? {};
  for (const container of [...initContainers, ...containers, ...ephemeralContainers]) {
    const env = envReferences(container);
    for (const name of env.configMaps) configMaps.add(name);
    for (const name of env.secrets) secrets.add(name);
  }
  for (const { name } of imagePullSecrets) if (name !== undefined) secrets.add(name);
  for (const { configMap, secret, projected, csi } of volumes) {
    if (configMap?.name !== undefined) configMaps.add(configMap.name);
    if (secret?.secretName !== undefined) secrets.add(secret.secretName);
    if (csi?.nodePublishSecretRef?.name !== undefined) secrets.add(csi.nodePublishSecretRef.name);
    for (const source of projected?.sources ?? []) {
      if (source.configMap?.name !== undefined) configMaps.add(source.configMap.name);
      if (source.secret?.name !== undefined) secrets.add(source.secret.name);
    }
  }
  return { configMaps, secrets };
}
