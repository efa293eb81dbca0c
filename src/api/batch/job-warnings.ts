/** Jobs so large that the cluster may lose track of them: allowed, with a warning. */
import type { JobSpec } from "../types/batch-v1.ts";

const manyCompletions = 100_000;
const muchParallelism = 10_000;

/** `at` is the path of the spec. */
export function jobSizeWarnings(spec: JobSpec | undefined, at: string): readonly string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec ?? {};
  if (completionMode !== "Indexed" || completions <= manyCompletions || parallelism <= muchParallelism) return [];
  const why =
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [`${at}: ${why}`];
}
