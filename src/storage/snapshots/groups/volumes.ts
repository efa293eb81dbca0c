/** The volumes of a group snapshot: those of the bound claims that its selector selects. */
import { type core, type LabelSelector, matcherOfSelector } from "#api";
import { volumeOf } from "../controller/claims.ts";
import type { VolumeGroupSnapshot } from "../objects/group-kinds.ts";
import type { Resolved } from "../objects/secret-reference.ts";
import type { GroupLookups } from "./lookups.ts";

export function groupVolumes(
  { metadata, spec }: VolumeGroupSnapshot,
  lookups: Pick<GroupLookups, "claims" | "volume">,
): Resolved<readonly [core.PersistentVolume, ...core.PersistentVolume[]]> {
  const { selector = {} } = spec.source;
  const claims = lookups.claims(metadata.namespace ?? "", selector);
  if (!claims.ok) return claims;
  const volumes: core.PersistentVolume[] = [];
  for (const claim of claims.value) {
    const volume = volumeOf(claim, lookups, "group snapshot");
    if (!volume.ok) return volume;
    volumes.push(volume.value);
  }
  const [first, ...others] = volumes;
  if (first !== undefined) return { ok: true, value: [first, ...others] };
  return { ok: false, error: `label selector ${selectorText(selector)} for group snapshot not applied to any PVC` };
}

/** Labels of claims against a selector; an empty one selects all. */
export function selected(
  claims: readonly core.PersistentVolumeClaim[],
  selector: LabelSelector,
): readonly core.PersistentVolumeClaim[] {
  const matcher = matcherOfSelector(selector);
  return claims.filter(({ metadata }) => matcher.matches(metadata.labels));
}

/** As kubectl shows selectors: `app=db,tier in (a,b)`. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const exact = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
  });
  const all = [...exact, ...others].sort();
  return all.length === 0 ? "<none>" : all.join(",");
}
