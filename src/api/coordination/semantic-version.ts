/** Semantic versions such as 1.36.4-beta.1: three numbers, then identifiers of a pre-release, then of a build. */

export interface SemanticVersion {
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly string[];
}

const NUMBER = "(?:0|[1-9]\\d*)";
const PRE = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${PRE}(?:\\.${PRE})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const [, major, minor, patch, preRelease] = VERSION.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { numbers: [major, minor, patch].map(BigInt), preRelease: preRelease?.split(".") ?? [] };
}

const ZERO: SemanticVersion = { numbers: [0n, 0n, 0n], preRelease: [] };

/** An absent version counts as 0.0.0. A pre-release comes before its release; builds do not count. */
export function compareSemanticVersions(a: SemanticVersion = ZERO, b: SemanticVersion = ZERO): number {
  for (const [i, number] of a.numbers.entries()) {
    const other = b.numbers[i] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return Math.sign(b.preRelease.length) - Math.sign(a.preRelease.length);
  for (const [i, part] of a.preRelease.entries()) {
    const other = b.preRelease[i];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return a.preRelease.length - b.preRelease.length;
}

/** Numbers by their value, before all words; words by the alphabet. */
function compareParts(a: string, b: string): number {
  const [one, other] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (one && other) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (one !== other) return one ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
