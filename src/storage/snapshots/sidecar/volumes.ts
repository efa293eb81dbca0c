/** The PersistentVolumes of a driver by their handles. */
import { type core, kinds } from "#api";
import type { ControllerContext } from "#controllers";
import type { FindVolume } from "./locate.ts";

/** A driver's volume with this handle, by an index of the PersistentVolumes. */
export function volumesOfDriver({ cache }: ControllerContext, driver: string): FindVolume {
  const byHandle = cache(kinds.PersistentVolume).index("csi handle", handleOf);
  return (handle) => byHandle(`${driver}/${handle}`)[0];
}

function handleOf({ spec }: core.PersistentVolume): readonly string[] {
  return spec?.csi === undefined ? [] : [`${spec.csi.driver}/${spec.csi.volumeHandle}`];
}
