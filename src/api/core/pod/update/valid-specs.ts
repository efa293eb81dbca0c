/**
 * Specs that passed all rules for a new pod: an update that leaves such a spec as it is has nothing in it to validate.
 *
 * 1. A spec is known by its identity: a stored one does not change, and `shareEqualParts` gives it to the new object.
 * 2. Of the metadata the rules of a spec read the name, which cannot change, and whether it is a mirror pod: those are
 *    left out.
 * 3. Only strict validation counts: the leniency for an old object then makes no difference.
 *
 * Merge patch of a Pod: a tenth of the processor time of the serving thread (profile of 2026-11-20);
 * `valid-specs.test.ts` compares with a spec that is not known.
 */
import type { Pod, PodSpec } from "../../../types/core-v1.ts";
import { mirrorPod } from "../fields/annotations.ts";
import { newPod, type PodValidationOptions } from "../fields/validation-options.ts";

const valid = new WeakSet<PodSpec>();

export function rememberValid(pod: Pod): void {
  if (pod.spec !== undefined && !isMirror(pod)) valid.add(pod.spec);
}

export function isKnownValid(pod: Pod): boolean {
  return pod.spec !== undefined && valid.has(pod.spec) && !isMirror(pod);
}

export function isStrict(options: PodValidationOptions): boolean {
  return Object.entries(newPod).every(([name, strict]) => options[name as keyof PodValidationOptions] === strict);
}

function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorPod] !== undefined;
}
