/**
 * The identity of a StatefulSet's Pod: `name-ordinal`, with labels, host name and claims.
 *
 * 1. Ordinals start at `ordinals.start`, one for each replica.
 * 2. A Pod belongs to a set by its name; a Pod with an ordinal outside of the range is condemned.
 */
import type { apps, core } from "#api";
import { type Pod, podFromTemplate } from "../pods/index.ts";

export type StatefulSet = apps.StatefulSet;

export const KIND = { apiVersion: "apps/v1", kind: "StatefulSet" };
export const REVISION_LABEL = "controller-revision-hash";
const POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL = "apps.kubernetes.io/pod-index";

export function nameOf({ metadata }: { readonly metadata: { readonly name?: string } }): string {
  return metadata.name ?? "";
}

export function replicasOf({ spec }: StatefulSet): number {
  return spec?.replicas ?? 1;
}

export function startOf({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

export function podName(set: StatefulSet, ordinal: number): string {
  return `${nameOf(set)}-${ordinal}`;
}

/** Undefined if the name does not have the form of the set's Pods. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const digits = /^(.*)-(\d{1,9})$/.exec(nameOf(pod));
  return digits !== null && digits[1] === nameOf(set) ? Number(digits[2]) : undefined;
}

/** The name of the set that a Pod of this name could belong to: at most one. */
export function parentName(pod: Pod): string | undefined {
  return /^(.*)-\d+$/.exec(nameOf(pod))?.[1];
}

export function isWanted(set: StatefulSet, ordinal: number): boolean {
  return ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set);
}

export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[REVISION_LABEL];
}

export function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  const { labels = {} } = pod.metadata;
  return labels[POD_NAME_LABEL] === nameOf(pod) && labels[POD_INDEX_LABEL] === String(ordinalOf(set, pod));
}

export function withIdentity(pod: Pod, ordinal: number): Pod {
  const labels = { ...pod.metadata.labels, [POD_NAME_LABEL]: nameOf(pod), [POD_INDEX_LABEL]: String(ordinal) };
  return { ...pod, metadata: { ...pod.metadata, labels } };
}

/** A Pod from a revision's template, with its identity. */
export function newPod(
  set: StatefulSet,
  ordinal: number,
  revision: string,
  template: core.PodTemplateSpec | undefined,
): Pod {
  const pod = podFromTemplate(template, set, KIND);
  const name = podName(set, ordinal);
  const labels = { ...pod.metadata.labels, [REVISION_LABEL]: revision };
  const { serviceName } = set.spec ?? {};
  const claims = claimedVolumes(set, ordinal);
  const others = (template?.spec?.volumes ?? []).filter((volume) => !claims.some(({ name }) => name === volume.name));
  const volumes = [...claims, ...others];
  return withIdentity(
    {
      ...pod,
      metadata: { ...pod.metadata, name, labels },
      spec: {
        containers: [],
        ...pod.spec,
        hostname: name,
        ...(serviceName !== undefined && serviceName !== "" && { subdomain: serviceName }),
        ...(volumes.length > 0 && { volumes }),
      },
    },
    ordinal,
  );
}

function claimedVolumes(set: StatefulSet, ordinal: number): readonly core.Volume[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    name: nameOf(template),
    persistentVolumeClaim: { claimName: claimName(set, nameOf(template), ordinal) },
  }));
}

export function claimName(set: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${nameOf(set)}-${ordinal}`;
}
