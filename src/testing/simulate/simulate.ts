/**
 * Many runs of a scenario, each on its own seed.
 *
 * 1. It stops at the first failure, and reduces it.
 */
import { realClock } from "#base";
import type { Bug } from "./bugs/bug.ts";
import { type Prepared, prepared } from "./prepared.ts";
import { type Outcome, type RunOptions, run } from "./run.ts";
import type { Scenario } from "./scenario.ts";
import { type Shrunk, shrunk } from "./shrink.ts";

export interface SimulateOptions {
  readonly scenario: Scenario;
  /** Default: 100, from 1. */
  readonly seeds?: number | readonly number[] | undefined;
  /** The first seed. */
  readonly from?: number | undefined;
  /** A bug to plant. */
  readonly bug?: Bug | undefined;
  /** Of one run: see `RunOptions`. */
  readonly onlyFaults?: readonly number[] | undefined;
  readonly decisions?: number | undefined;
  /** Stops after so many real minutes. */
  readonly minutes?: number | undefined;
  /** Reduces a failure to what it needs. Default: true. */
  readonly shrinks?: boolean | undefined;
  /** Called after each run. */
  readonly ran?: ((outcome: Outcome) => void) | undefined;
}

export interface Simulated {
  /** How many runs there were. */
  readonly runs: number;
  /** Undefined: all invariants held in all runs. */
  readonly failure: Shrunk | undefined;
}

const SEEDS = 100;

export async function simulate(options: SimulateOptions): Promise<Simulated> {
  const { scenario, bug, onlyFaults, decisions, minutes = Number.POSITIVE_INFINITY, shrinks = true, ran } = options;
  const clock = realClock();
  const endMs = clock.monotonic() + minutes * 60_000;
  const start: Prepared = await prepared(scenario.parts, scenario.manifests);
  let runs = 0;
  for (const seed of seedsOf(options)) {
    if (clock.monotonic() >= endMs) break;
    const one: RunOptions = { scenario, seed, prepared: start, bug, onlyFaults, decisions };
    const outcome = await run(one);
    runs += 1;
    ran?.(outcome);
    if (outcome.violation !== undefined) return { runs, failure: await shrunk(one, outcome, shrinks) };
  }
  return { runs, failure: undefined };
}

function* seedsOf({ seeds = SEEDS, from = 1 }: SimulateOptions): Iterable<number> {
  if (typeof seeds !== "number") yield* seeds;
  else for (let i = 0; i < seeds; i++) yield from + i;
}
