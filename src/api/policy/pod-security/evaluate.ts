/**
 * Evaluates a pod against a level of the Pod Security Standards at a version.
 *
 * 1. Restricted consists of the checks of baseline, except those that it overrides, and its own.
 * 2. A version newer than any change is the newest one: `latest` means that, not the version of the server.
 */
import { baselineChecks } from "./baseline.ts";
import type { CheckPod, PodLike, PodSecurityCheck, Violation } from "./check.ts";
import type { LevelVersion } from "./level.ts";
import { restrictedChecks } from "./restricted.ts";

const NEWEST = Math.max(
  ...[...baselineChecks, ...restrictedChecks].flatMap(({ versions }) => versions.map(({ from }) => from)),
);

interface Checks {
  readonly baseline: readonly CheckPod[];
  readonly restricted: readonly CheckPod[];
}

/** For each minor version. */
const CHECKS: readonly Checks[] = Array.from({ length: NEWEST + 1 }, (_, minor) => {
  const baseline = inForce(baselineChecks, minor);
  const restricted = inForce(restrictedChecks, minor);
  const replaced = new Set([...restricted.values()].map(({ replaces }) => replaces));
  const kept = [...baseline].filter(([id]) => !replaced.has(id)).map(([, { check }]) => check);
  return {
    baseline: [...baseline.values()].map(({ check }) => check),
    restricted: [...kept, ...[...restricted.values()].map(({ check }) => check)],
  };
});

function inForce(checks: readonly PodSecurityCheck[], minor: number) {
  const found = new Map<string, PodSecurityCheck["versions"][number]>();
  for (const { id, versions } of checks) {
    const newest = versions.findLast(({ from }) => from <= minor);
    if (newest !== undefined) found.set(id, newest);
  }
  return found;
}

/** All violations; empty if the pod is allowed. */
export function evaluatePodSecurity({ level, version }: LevelVersion, pod: PodLike): readonly Violation[] {
  if (level === "privileged") return [];
  const checks = CHECKS[Math.min(version, NEWEST)]?.[level] ?? [];
  return checks.flatMap((check) => check(pod) ?? []);
}

/** `host namespaces (hostPID=true), privileged (…)`. */
export function violationDetails(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ");
}

export function violationReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(", ");
}
