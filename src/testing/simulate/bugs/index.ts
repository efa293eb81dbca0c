/** Bugs that the simulation has to find: see the table in simulate.test.ts. */
import type { Bug } from "./bug.ts";
import { bindsTwice, deletesAgain, deletesAtOnce, lostEvent } from "./connections.ts";
import { forgottenRequeue, restlessStatus, withoutBarrier } from "./controllers.ts";
import { ignoresBudgets, keepsFinalizer, leadsTooLong, losesWrites, readsStale } from "./server.ts";

export const bugs: readonly Bug[] = [
  withoutBarrier,
  forgottenRequeue,
  restlessStatus,
  lostEvent,
  deletesAgain,
  deletesAtOnce,
  bindsTwice,
  ignoresBudgets,
  keepsFinalizer,
  losesWrites,
  readsStale,
  leadsTooLong,
];
