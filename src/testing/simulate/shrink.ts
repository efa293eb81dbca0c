/**
 * The smallest case of a failure: first without faults that it does not need, then with as few decisions of the seed
 * about order and delays as possible.
 *
 * 1. Any case that fails by the same invariant counts: what is found in the end is a case of its own.
 */
import { type Outcome, type RunOptions, run } from "./run.ts";

export interface Shrunk {
  readonly options: RunOptions;
  readonly outcome: Outcome;
  /** How many runs it took. */
  readonly tries: number;
}

const MOST_TRIES = 60;

export async function shrunk(options: RunOptions, found: Outcome, tries: boolean): Promise<Shrunk> {
  let best: Shrunk = { options, outcome: found, tries: 0 };
  if (!tries) return best;
  let count = 0;
  const attempt = async (smaller: RunOptions): Promise<boolean> => {
    if (count >= MOST_TRIES) return false;
    count += 1;
    const outcome = await run(smaller);
    if (outcome.violation?.invariant !== found.violation?.invariant) return false;
    best = { options: smaller, outcome, tries: count };
    return true;
  };
  const numbers = () => best.options.onlyFaults ?? best.outcome.faults.map(({ number }) => number);
  const fewerFaults = async () => {
    if (numbers().length === 0 || (await attempt({ ...best.options, onlyFaults: [] }))) return;
    for (const number of numbers())
      await attempt({ ...best.options, onlyFaults: numbers().filter((each) => each !== number) });
  };
  // Bisected: fewer decisions may fail in another way, so what fails is tried itself.
  const fewerDecisions = async () => {
    let [low, high] = [-1, best.options.decisions ?? best.outcome.decisions];
    while (high - low > Math.max(1, high / 50)) {
      const middle = low < 0 ? 0 : Math.floor((low + high) / 2);
      if (await attempt({ ...best.options, decisions: middle })) high = middle;
      else low = middle;
    }
  };
  await fewerFaults();
  await fewerDecisions();
  // Where less is left to chance, other faults may have nothing to do with it.
  await fewerFaults();
  return { ...best, tries: count };
}
