/** The first rule of a success policy that the succeeded indexes meet. */
import type { batch } from "#api";
import { countIndexes, countShared, type Indexes, readIndexes } from "./indexes.ts";

export function metSuccessRule(
  policy: batch.SuccessPolicy | undefined,
  succeeded: Indexes,
  completions: number,
): string | undefined {
  if (succeeded.length === 0) return undefined;
  const at = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount = Infinity }) => {
    if (succeededIndexes === undefined) return countIndexes(succeeded) >= succeededCount;
    const needed = readIndexes(succeededIndexes, completions);
    const shared = countShared(needed, succeeded);
    return needed.length > 0 && (shared === countIndexes(needed) || shared >= succeededCount);
  });
  return at === -1 ? undefined : `Matched rules at index ${at}`;
}
