/** The Secrets that a Pod references. */
import type { core } from "#api";

/** `namespace/name` of each. */
export function mountedSecrets({ metadata, spec }: core.Pod): readonly string[] {
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  const names = [
    ...(spec?.imagePullSecrets ?? []).map(({ name }) => name),
    ...containers.flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
    ]),
    ...(spec?.volumes ?? []).flatMap(secretsOfVolume),
  ];
  const named = names.filter((name) => name !== undefined && name !== "");
  return [...new Set(named)].map((name) => `${metadata?.namespace ?? ""}/${name}`);
}

function secretsOfVolume(volume: core.Volume): readonly (string | undefined)[] {
  return [
    volume.secret?.secretName,
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.storageos?.secretRef?.name,
  ];
}
