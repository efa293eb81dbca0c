/** Defaults of volumes. Defaults of the former in-tree drivers are in the facts of their types. */
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Volume } from "../../../types/core-v1.ts";
import { defaultFieldRef } from "../fields/field-refs.ts";
import { defaultPullPolicy } from "../fields/image.ts";
import { roundResources } from "../resources/defaults.ts";

/** rw-r--r-- */
const fileMode = 0o644;
const tokenSeconds = 60 * 60;

export function defaultVolume(volume: Draft<Volume>): void {
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  const { hostPath, secret, configMap, downwardAPI, projected, ephemeral, image } = volume;
  if (hostPath !== undefined) hostPath.type ??= "";
  for (const files of [secret, configMap, downwardAPI, projected])
    if (files !== undefined) files.defaultMode ??= fileMode;
  for (const { fieldRef } of downwardAPI?.items ?? []) defaultFieldRef(fieldRef);
  for (const source of projected?.sources ?? []) {
    if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= tokenSeconds;
    for (const { fieldRef } of source.downwardAPI?.items ?? []) defaultFieldRef(fieldRef);
  }
  const claim = ephemeral?.volumeClaimTemplate?.spec;
  if (claim !== undefined) {
    claim.volumeMode ??= "Filesystem";
    roundResources(claim.resources);
  }
  if (image !== undefined && (image.pullPolicy ?? "") === "") image.pullPolicy = defaultPullPolicy(image.reference);
}
