/** All invariants. */
import { converged } from "./converged.ts";
import { innocent, noOrphans, seenBefore } from "./deletions.ts";
import type { Invariant } from "./invariant.ts";
import { budgets, oneLeader, quotas } from "./limits.ts";
import { linearizable, nothingLost } from "./stored.ts";
import { fits, noSurplus, oneOfEach, workDone } from "./workloads.ts";

export { disturbance } from "./quiet.ts";

export const invariants: readonly Invariant[] = [
  nothingLost,
  linearizable,
  oneOfEach,
  noSurplus,
  workDone,
  fits,
  budgets,
  quotas,
  oneLeader,
  innocent,
  seenBefore,
  noOrphans,
  converged,
];
