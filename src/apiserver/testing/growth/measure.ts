/**
 * How the processor time of an action grows with its input.
 *
 * 1. Processor time, not time of day, and the best of several runs: other work on the machine does not count.
 * 2. The smaller input is as large as it has to be to be measured, and the larger one ten times that. Time may grow
 *    twelvefold, which leaves room for sorting, plus an allowance for the collection of garbage. What takes the square
 *    of its input grows a hundredfold.
 * 3. What seems to grow too fast is measured again, a few times: a busy machine is no fault.
 */

/** An input of some size. */
export interface Prepared {
  /** Of what is sent. */
  readonly bytes: number;
  run(): Promise<void>;
}

export interface Growth {
  readonly size: number;
  readonly smallMs: number;
  readonly largeMs: number;
}

const FACTOR = 10;
const ALLOWED = 12;
/** Garbage costs more, the more of it is alive: up to two thirds of the time of large inputs. */
const ALLOWANCE = 8;
const ALLOWANCE_MS = 30;
const MEASURABLE_MS = 3;
const DOUBLINGS = 4;
/** A request beyond 3 MB is refused. */
const MAX_BYTES = 2_000_000;
const ATTEMPTS = 5;

export function isExcessive({ smallMs, largeMs }: Growth): boolean {
  return largeMs > (ALLOWED + ALLOWANCE) * smallMs + ALLOWANCE_MS;
}

/** `most`: the largest small input, where ten times more would be too large to be taken. */
export async function growthOf(
  prepare: (size: number) => Promise<Prepared>,
  start: number,
  most = Number.POSITIVE_INFINITY,
): Promise<Growth> {
  let size = start;
  let small = await prepare(size);
  let smallMs = await best(small, 3);
  for (let doubled = 0; doubled < DOUBLINGS && smallMs < MEASURABLE_MS; doubled++) {
    if (size * 2 > most || small.bytes * 2 * FACTOR > MAX_BYTES) break;
    size *= 2;
    small = await prepare(size);
    smallMs = await best(small, 3);
  }
  const large = await prepare(size * FACTOR);
  let largeMs = await best(large, 1);
  for (let attempt = 1; attempt < ATTEMPTS && isExcessive({ size, smallMs, largeMs }); attempt++) {
    largeMs = Math.min(largeMs, await best(large, 2));
    // The slowest of its best runs: the same disturbance may have hit only the large one.
    smallMs = Math.max(smallMs, await best(small, 3));
  }
  return { size, smallMs, largeMs };
}

async function best({ run }: Prepared, runs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < runs; count++) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
