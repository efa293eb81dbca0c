/** Candidates of an election, by their versions: the oldest emulated version leads while old servers are there. */
import { compareSemanticVersions, type coordinationV1beta1, parseSemanticVersion } from "#api";

export type LeaseCandidate = coordinationV1beta1.LeaseCandidate;

export const OLDEST = "OldestEmulationVersion";

/** The oldest emulated version, then the oldest binary, then who came first. */
export function bestCandidate(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  return candidates
    .filter(({ spec }) => [spec.emulationVersion, spec.binaryVersion].every((text) => version(text) !== undefined))
    .reduce<LeaseCandidate | undefined>(
      (best, candidate) => (best === undefined || compare(candidate, best) < 0 ? candidate : best),
      undefined,
    );
}

/** That of the newest binary. Throws if candidates of this version do not agree. */
export function strategyOf(candidates: readonly LeaseCandidate[]): string {
  const newest = candidates.reduce((most, each) => (compareBinaries(each, most) > 0 ? each : most));
  const other = candidates.find(
    (each) => compareBinaries(each, newest) === 0 && each.spec.strategy !== newest.spec.strategy,
  );
  if (other === undefined) return newest.spec.strategy;
  const named = `"${newest.metadata.name}", "${other.metadata.name}"`;
  throw new Error(
    `candidates ${named} at same binary version but received differing strategies ${newest.spec.strategy}, ${other.spec.strategy}`,
  );
}

function compare(a: LeaseCandidate, b: LeaseCandidate): number {
  return (
    compareSemanticVersions(version(a.spec.emulationVersion), version(b.spec.emulationVersion)) ||
    compareBinaries(a, b) ||
    createdMs(a) - createdMs(b)
  );
}

function compareBinaries(a: LeaseCandidate, b: LeaseCandidate): number {
  return compareSemanticVersions(version(a.spec.binaryVersion), version(b.spec.binaryVersion));
}

function version(text = "") {
  return parseSemanticVersion(text);
}

function createdMs({ metadata }: LeaseCandidate): number {
  return Date.parse(metadata.creationTimestamp ?? "");
}
