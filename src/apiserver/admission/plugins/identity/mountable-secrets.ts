/** Finds secrets that a Pod uses and its ServiceAccount does not list, if the account enforces its list. */
import type { core } from "#api";

/** The first fault, with the message of Kubernetes. */
export function secretFault(
  { metadata, secrets = [], imagePullSecrets = [] }: core.ServiceAccount,
  spec: core.PodSpec,
) {
  const mountable = new Set(secrets.map(({ name }) => name));
  const unknown = (secret: string) =>
    `is not allowed because service account ${metadata.name} does not reference that ${secret}`;
  for (const { secret } of spec.volumes ?? []) {
    const name = secret?.secretName;
    if (secret !== undefined && !mountable.has(name))
      return `volume with secret.secretName="${name ?? ""}" ${unknown("secret")}`;
  }
  const sorts = [
    ["init container", spec.initContainers ?? []],
    ["container", spec.containers],
    ["ephemeral container", spec.ephemeralContainers ?? []],
  ] as const;
  for (const [sort, containers] of sorts) {
    for (const container of containers) {
      const fault = containerFault(container, mountable);
      if (fault !== undefined) return `${sort} ${container.name} with ${fault} ${unknown("secret")}`;
    }
  }
  const pullable = new Set(imagePullSecrets.map(({ name }) => name));
  for (const [i, { name }] of (spec.imagePullSecrets ?? []).entries()) {
    if (!pullable.has(name)) return `imagePullSecrets[${i}].name="${name ?? ""}" ${unknown("imagePullSecret")}`;
  }
  return undefined;
}

function containerFault(
  { env = [], envFrom = [] }: Pick<core.Container, "env" | "envFrom">,
  mountable: ReadonlySet<string | undefined>,
): string | undefined {
  for (const { name, valueFrom } of env) {
    const secret = valueFrom?.secretKeyRef;
    if (secret !== undefined && !mountable.has(secret.name))
      return `envVar ${name} referencing secret.secretName="${secret.name ?? ""}"`;
  }
  for (const { secretRef } of envFrom) {
    if (secretRef !== undefined && !mountable.has(secretRef.name))
      return `envFrom referencing secret.secretName="${secretRef.name ?? ""}"`;
  }
  return undefined;
}
