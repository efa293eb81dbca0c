/** The claims of a Pod's ephemeral volumes: created from the template in the Pod, and owned by it. */
import { type core, type KubeObject, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Pod } from "../pods/index.ts";
import { controllerOf, ownedBy, type Plan, type Write } from "../runtime/index.ts";

const POD = { apiVersion: "v1", kind: "Pod" };

export function planVolumes(pod: Pod, claimOf: (name: string) => core.PersistentVolumeClaim | undefined): Plan {
  const writes: Write[] = [];
  const events: RecordedEvent[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.ephemeral === undefined) continue;
    const found = claimOf(claimName(pod, volume));
    if (found === undefined)
      writes.push({ verb: "create", resource: kinds.PersistentVolumeClaim, object: newClaim(pod, volume) });
    else if (controllerOf(found)?.uid !== pod.metadata.uid) events.push(failure(pod, volume.name, notOurs(pod, found)));
  }
  return {
    steps: [writes],
    events,
    eventFor: ({ object }, outcome) => {
      if (outcome.ok) return undefined;
      const { name = "" } = object.metadata;
      const why = outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
      const volume = name.slice(`${pod.metadata.name}-`.length);
      return failure(pod, volume, `create PVC ${name}: ${why}`);
    },
  };
}

export function hasOwnVolumes({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined);
}

/** Claims for all ephemeral volumes of a Pod. */
export function claimNames(pod: Pod): readonly string[] {
  return (pod.spec?.volumes ?? [])
    .filter(({ ephemeral }) => ephemeral !== undefined)
    .map((volume) => claimName(pod, volume));
}

function claimName({ metadata }: Pod, { name }: core.Volume): string {
  return `${metadata.name}-${name}`;
}

function newClaim(pod: Pod, volume: core.Volume): KubeObject {
  const { metadata = {}, spec } = volume.ephemeral?.volumeClaimTemplate ?? { spec: {} };
  const { labels, annotations } = metadata;
  const claim: core.PersistentVolumeClaim = {
    metadata: {
      name: claimName(pod, volume),
      namespace: pod.metadata.namespace ?? "",
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ownerReferences: [ownedBy(pod, POD)],
    },
    spec,
  };
  return claim;
}

function notOurs({ metadata: pod }: Pod, { metadata: claim }: core.PersistentVolumeClaim): string {
  const names = `PVC ${claim.namespace}/${claim.name} was not created for pod ${pod.namespace}/${pod.name}`;
  return `${names} (pod is not owner)`;
}

function failure(about: Pod, volume: string, why: string): RecordedEvent {
  return { about, type: "Warning", reason: "FailedBinding", note: `ephemeral volume ${volume}: ${why}` };
}
