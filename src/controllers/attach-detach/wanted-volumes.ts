/**
 * The volumes that Pods need attached to their node.
 *
 *     scheduled Pod ──► claim, bound ──► PersistentVolume of a CSI driver that attaches ──► wanted
 *
 * 1. Inline CSI volumes are never attached, nor are those of drivers with attachRequired=false.
 * 2. A volume of an in-tree plugin counts as one of the driver that replaces it, where the node has that driver's
 *    support: the annotation of its CSINode says so.
 */
import {
  type CsiIdentity,
  type core,
  csiIdentity,
  csiVolumeName,
  migratedPlugin,
  needsAttach,
  type storage,
} from "#api";
import { claimKeysOf, type Volume, type VolumeClaim } from "../persistent-volume/index.ts";
import { isFinished, type Pod } from "../pods/index.ts";
import { controllerOf } from "../runtime/index.ts";

const MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins";
const KEEP_TERMINATED = "volumes.kubernetes.io/keep-terminated-pod-volumes";
const MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach";

export interface WantedVolume {
  /** In the node's status. */
  readonly name: string;
  readonly identity: CsiIdentity;
  readonly volume: Volume;
  /** The Pods on the node that need it. */
  readonly pods: readonly Pod[];
}

export interface VolumeLookups {
  claim(key: string): VolumeClaim | undefined;
  volume(name: string): Volume | undefined;
  driver(name: string): storage.CSIDriver | undefined;
  csiNode(name: string): storage.CSINode | undefined;
}

export function wantedVolumes(
  pods: readonly Pod[],
  node: core.Node | undefined,
  lookups: VolumeLookups,
): readonly WantedVolume[] {
  const found = new Map<string, WantedVolume>();
  for (const pod of pods) {
    if (!needsVolumes(pod, node)) continue;
    for (const volume of attachableVolumes(pod, lookups)) {
      const { name } = volume;
      const known = found.get(name);
      found.set(name, known === undefined ? { ...volume, pods: [pod] } : { ...known, pods: [...known.pods, pod] });
    }
  }
  return [...found.values()];
}

/** Its kubelet leaves attaching to this controller. */
export function isManaged({ metadata }: core.Node): boolean {
  return metadata.annotations?.[MANAGED] !== undefined;
}

/** A Pod without running containers has let go of its volumes, unless the node keeps them. */
export function needsVolumes(pod: Pod, node: core.Node | undefined): boolean {
  return !isOver(pod) || node?.metadata.annotations?.[KEEP_TERMINATED] === "true";
}

export function isOver(pod: Pod): boolean {
  if (isFinished(pod)) return true;
  if (pod.metadata.deletionTimestamp === undefined) return false;
  return (pod.status?.containerStatuses ?? []).every(
    ({ state }) => state?.terminated !== undefined || state?.waiting !== undefined,
  );
}

function attachableVolumes(pod: Pod, lookups: VolumeLookups): readonly Omit<WantedVolume, "pods">[] {
  return claimKeysOf(pod).flatMap((key) => {
    const volume = boundVolume(pod, lookups.claim(key), lookups);
    const identity = volume && csiIdentity(volume);
    if (volume === undefined || identity === undefined || !needsAttach(lookups.driver(identity.driver))) return [];
    const plugin = migratedPlugin(volume);
    if (plugin !== undefined && !isMigratedOn(lookups.csiNode(pod.spec?.nodeName ?? ""), plugin)) return [];
    return [{ name: csiVolumeName(identity), identity, volume }];
  });
}

function boundVolume(pod: Pod, claim: VolumeClaim | undefined, { volume }: VolumeLookups): Volume | undefined {
  if (claim?.status?.phase !== "Bound" || !isForPod(claim, pod)) return undefined;
  const found = volume(claim.spec?.volumeName ?? "");
  return found?.spec?.claimRef?.uid === claim.metadata.uid ? found : undefined;
}

/** The claim of an ephemeral volume has to be the Pod's own. */
function isForPod(claim: VolumeClaim, { metadata, spec }: Pod): boolean {
  const isEphemeral = (spec?.volumes ?? []).some(
    ({ name, ephemeral }) => ephemeral !== undefined && `${metadata.name}-${name}` === claim.metadata.name,
  );
  return !isEphemeral || controllerOf(claim)?.uid === metadata.uid;
}

function isMigratedOn(node: storage.CSINode | undefined, plugin: string): boolean {
  return (node?.metadata.annotations?.[MIGRATED_PLUGINS] ?? "").split(",").includes(plugin);
}
