/** How versions of an API are ordered: v2 over v1, those over v1beta2, that over v1beta1, over v1alpha1, over all that are named otherwise. */

const named = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const stability = { alpha: 0, beta: 1, stable: 2 };

/** Negative if `a` is the older or less stable one. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parse(a), parse(b)];
  if (first === undefined || second === undefined) {
    if (first === undefined && second === undefined) return a < b ? 1 : a > b ? -1 : 0;
    return first === undefined ? -1 : 1;
  }
  return first.stability - second.stability || first.major - second.major || first.minor - second.minor;
}

function parse(version: string): { stability: number; major: number; minor: number } | undefined {
  const [whole, major, stage, minor] = named.exec(version) ?? [];
  if (whole === undefined) return undefined;
  return {
    stability: stability[(stage ?? "stable") as keyof typeof stability],
    major: Number(major),
    minor: Number(minor ?? 0),
  };
}
