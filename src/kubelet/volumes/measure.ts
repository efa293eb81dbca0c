/**
 * Measures the volumes of a Pod, each as its plugin does upstream.
 *
 * 1. Folders are counted; a volume with a file system of its own, and one of a driver, is asked.
 * 2. A volume that cannot be measured does not keep the others from it.
 */
import type { core } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import type { VolumePath } from "../containers/index.ts";
import type { CsiVolumes, CsiVolumeUsage } from "./csi.ts";
import { pluginOf, type VolumeObserver } from "./operation-metrics.ts";
import { filesystemFigures, folderFigures, type VolumeUsage } from "./volume-usage.ts";

/** How it is measured; absent for folders of the node, which are not the Pod's. */
export interface MeasuredPath extends VolumePath {
  readonly plugin?: string | undefined;
  readonly measure?: "folder" | "filesystem" | "driver" | undefined;
}

export interface MeasureParts {
  readonly csi: Pick<CsiVolumes, "usage">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: Pick<VolumeObserver, "measured"> | undefined;
}

export async function podVolumeUsage(
  parts: MeasureParts,
  pod: core.Pod,
  paths: ReadonlyMap<string, MeasuredPath> = new Map(),
  signal: AbortSignal,
): Promise<readonly VolumeUsage[]> {
  const { clock, log, observer } = parts;
  const { namespace = "" } = pod.metadata;
  const all = (pod.spec?.volumes ?? []).map(async (volume): Promise<VolumeUsage[]> => {
    const mounted = paths.get(volume.name);
    if (mounted === undefined) return [];
    const startMs = clock.monotonic();
    try {
      const found = await figuresOf(parts, mounted, signal);
      if (found === undefined) return [];
      observer?.measured(mounted.plugin ?? pluginOf(volume), (clock.monotonic() - startMs) / 1000);
      const { condition, ...figures } = found;
      const claim = claimOf(pod, volume);
      return [
        {
          name: volume.name,
          atMs: clock.now(),
          ...figures,
          ...(claim !== undefined && { claim: { name: claim, namespace } }),
          ...(condition !== undefined && { abnormal: condition.abnormal, message: condition.message }),
          isLocal: isLocal(volume),
        },
      ];
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      log.debug("volume could not be measured", { pod: pod.metadata.name, volume: volume.name, error });
      return [];
    }
  });
  return (await Promise.all(all)).flat();
}

async function figuresOf(
  { csi }: MeasureParts,
  { path, measure }: MeasuredPath,
  signal: AbortSignal,
): Promise<CsiVolumeUsage | undefined> {
  switch (measure) {
    case "folder":
      return folderFigures(path);
    case "filesystem":
      return filesystemFigures(path);
    case "driver":
      return csi.usage(path, signal);
    case undefined:
      return undefined;
  }
}

function claimOf({ metadata }: core.Pod, { name, persistentVolumeClaim, ephemeral }: core.Volume): string | undefined {
  return ephemeral !== undefined ? `${metadata.name}-${name}` : persistentVolumeClaim?.claimName;
}

/** As upstream: what is in memory, and what drivers keep, is not on the node's disk. */
function isLocal({ emptyDir, configMap }: core.Volume): boolean {
  return configMap !== undefined || (emptyDir !== undefined && emptyDir.medium !== "Memory");
}
