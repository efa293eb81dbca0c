/** Limits an Endpoints object to 1,000 addresses. Ready ones go first, and each subset keeps its share. */
import type { Address, Subset } from "./subsets.ts";

export const MAX_ADDRESSES = 1000;

/** Undefined if it is within the limit. */
export function truncated(subsets: readonly Subset[], max = MAX_ADDRESSES): readonly Subset[] | undefined {
  const ready = count(subsets, ({ addresses }) => addresses);
  const others = count(subsets, ({ notReadyAddresses }) => notReadyAddresses);
  if (ready + others <= max) return undefined;
  const readyShares = shares(subsets, ({ addresses }) => addresses, Math.min(ready, max));
  const otherShares = shares(subsets, ({ notReadyAddresses }) => notReadyAddresses, Math.max(0, max - ready));
  return subsets.flatMap(({ addresses, notReadyAddresses, ports }, at) => {
    const kept = (addresses ?? []).slice(0, readyShares[at]);
    const keptOthers = (notReadyAddresses ?? []).slice(0, otherShares[at]);
    if (kept.length + keptOthers.length === 0) return [];
    return [
      {
        ...(kept.length > 0 && { addresses: kept }),
        ...(keptOthers.length > 0 && { notReadyAddresses: keptOthers }),
        ...(ports !== undefined && { ports }),
      },
    ];
  });
}

type Part = (subset: Subset) => readonly Address[] | undefined;

function count(subsets: readonly Subset[], part: Part): number {
  return subsets.reduce((sum, subset) => sum + (part(subset)?.length ?? 0), 0);
}

/** Proportional to the size; the rounding remainder goes one by one to the larger ones. */
function shares(subsets: readonly Subset[], part: Part, room: number): readonly number[] {
  const sizes = subsets.map((subset) => part(subset)?.length ?? 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total === 0) return sizes;
  const given = sizes.map((size) => Math.floor((size / total) * room));
  let left = room - given.reduce((sum, size) => sum + size, 0);
  return given.map((share, at) => {
    if (left <= 0 || share >= (sizes[at] ?? 0)) return share;
    left -= 1;
    return share + 1;
  });
}
