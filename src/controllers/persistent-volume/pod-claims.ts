/** The claims of a Pod. */
import type { core } from "#api";

/** Their keys, including those of generic ephemeral volumes. */
export function claimKeysOf({ metadata: { name = "", namespace = "" }, spec }: core.Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${name}-${volume}`];
  });
}
