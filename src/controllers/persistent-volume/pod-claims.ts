/** Which claims a Pod uses. */
import type { core } from "#api";

/** Their keys, also of those that are made for the Pod alone. */
export function claimKeysOf({ metadata: { name = "", namespace = "" }, spec }: core.Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${name}-${volume}`];
  });
}
