/**
 * Which volumes of a Pod have to be attached to its node, and whether they are. As with kubelets, a Pod starts when its
 * node reports them in use and the cluster reports them attached.
 */
import { type core, csiVolumeName, isStatusError, kinds, needsAttach, type storage } from "#api";
import type { Client } from "#client";
import { boundVolume, VolumeError } from "../volumes/index.ts";

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

/** After how many milliseconds to look for bound claims again. */
export function retryMs(attempts: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 10), MAX_RETRY_MS);
}

export function hasClaims({ spec }: core.Pod): boolean {
  return (spec?.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
}

/** Their names in a node's status; undefined while a claim is missing or not bound. */
export async function attachableVolumes(
  client: Client,
  pod: core.Pod,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const names = new Set<string>();
  for (const volume of pod.spec?.volumes ?? []) {
    try {
      const bound = await boundVolume(client, pod, volume, signal);
      const csi = bound?.persistentVolume.spec?.csi;
      if (csi !== undefined && needsAttach(await driverOf(client, csi.driver, signal))) names.add(csiVolumeName(csi));
    } catch (error) {
      if (error instanceof VolumeError) return undefined;
      throw error;
    }
  }
  return [...names];
}

export function areAttached(names: readonly string[], { status }: core.Node): boolean {
  const attached = new Set(status?.volumesAttached?.map(({ name }) => name));
  const inUse = new Set(status?.volumesInUse);
  return names.every((name) => attached.has(name) && inUse.has(name));
}

async function driverOf(client: Client, name: string, signal: AbortSignal): Promise<storage.CSIDriver | undefined> {
  try {
    return await client.of(kinds.CSIDriver).get(name, { signal });
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound") return undefined;
    throw error;
  }
}

interface VolumesOfPod {
  /** Undefined once the Pod has finished. */
  readonly life: { readonly hasSandbox: boolean } | undefined;
  /** Undefined until they are known. */
  readonly volumes: readonly string[] | undefined;
}

/** Pods that ran before this node started keep the volumes that its Node reports until theirs are known. */
export function volumesInUse(pods: Iterable<VolumesOfPod>, { status }: core.Node): readonly string[] {
  const names = new Set<string>();
  for (const { life, volumes } of pods) {
    if (life === undefined) continue;
    const before = life.hasSandbox ? status?.volumesInUse : undefined;
    for (const name of volumes ?? before ?? []) names.add(name);
  }
  return [...names];
}
