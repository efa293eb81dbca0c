/**
 * Checks existing Pods against a stricter level of their namespace: each kind of violation is reported once, with a Pod
 * that has it.
 *
 * 1. One Pod of each controller is checked before the others of that controller: they are alike.
 * 2. The number of Pods and the time are limited: labelling a namespace must not take long.
 */
import { type core, evaluatePodSecurity, goQuote, type LevelVersion, levelVersionText, violationReasons } from "#api";
import type { Clock } from "#base";

const MAX_PODS = 3_000;
const MAX_MS = 1_000;

export function existingPodWarnings(
  namespace: string,
  pods: readonly core.Pod[],
  enforce: LevelVersion,
  exemptRuntimes: ReadonlySet<string>,
  clock: Clock,
): readonly string[] {
  const found = new Map<string, { first: string; count: number }>();
  const deadline = clock.monotonic() + MAX_MS;
  let checked = 0;
  for (const { metadata, spec } of distinctFirst(pods)) {
    if (checked === MAX_PODS || clock.monotonic() > deadline) break;
    checked++;
    if (spec === undefined || exemptRuntimes.has(spec.runtimeClassName ?? "")) continue;
    const violations = evaluatePodSecurity(enforce, { metadata, spec });
    if (violations.length === 0) continue;
    const reasons = violationReasons(violations);
    const { name = "" } = metadata;
    const seen = found.get(reasons) ?? { first: name, count: 0 };
    found.set(reasons, { first: name < seen.first ? name : seen.first, count: seen.count + 1 });
  }
  const all = `existing pods in namespace ${goQuote(namespace)} violate the new PodSecurity enforce level ${goQuote(levelVersionText(enforce))}`;
  return [
    ...(checked < pods.length
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`]
      : []),
    ...(found.size > 0 ? [all] : []),
    ...[...found].map(([reasons, { first, count }]) => `${first}${others(count - 1)}: ${reasons}`).sort(),
  ];
}

function distinctFirst(pods: readonly core.Pod[]): readonly core.Pod[] {
  const seen = new Set<string>();
  const [distinct, alike]: [core.Pod[], core.Pod[]] = [[], []];
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
    if (controller !== undefined && seen.has(controller)) alike.push(pod);
    else distinct.push(pod);
    if (controller !== undefined) seen.add(controller);
  }
  return [...distinct, ...alike];
}

function others(count: number): string {
  if (count === 0) return "";
  return count === 1 ? " (and 1 other pod)" : ` (and ${count} other pods)`;
}
