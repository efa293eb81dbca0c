/**
 * How many seats each priority level has.
 *
 *     shares ──► nominal, least and most            every 10 s: demand ──► current, between least and most
 *
 * 1. Nominal limits are rounded up: together they may exceed the server's total a little, and every level with shares
 *    has a seat.
 * 2. Unused seats that a level may lend go to levels that could use more, in proportion to their demand.
 * 3. The sum of the current limits is the sum of the nominal ones; the seats of exempt requests are deducted first.
 */
import type { DemandStats } from "./demand.ts";

export interface Shares {
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: no limit. */
  readonly borrowingLimitPercent: number | undefined;
}

export interface SeatLimits {
  readonly nominal: number;
  readonly least: number;
  readonly most: number;
}

export function seatLimits(levels: ReadonlyMap<string, Shares>, total: number): ReadonlyMap<string, SeatLimits> {
  let sum = 0;
  for (const { shares } of levels.values()) sum += shares;
  return new Map(
    [...levels].map(([name, { shares, lendablePercent, borrowingLimitPercent }]) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const percent = (part: number) => Math.round((nominal * part) / 100);
      const borrowable = borrowingLimitPercent === undefined ? total : percent(borrowingLimitPercent);
      return [name, { nominal, least: nominal - percent(lendablePercent), most: nominal + borrowable }];
    }),
  );
}

export interface Borrower {
  readonly exempt: boolean;
  readonly limits: SeatLimits;
  readonly demand: DemandStats;
  /** The present limit, which stays if there is no solution. */
  readonly current: number;
}

export interface Lending {
  readonly current: number;
  /** What the level would get without bounds. */
  readonly target: number;
}

export interface Borrowing {
  readonly levels: ReadonlyMap<string, Lending>;
  /** The part of its target that each level gets, unless a bound limits it. */
  readonly fairFraction: number;
}

export function borrow(levels: ReadonlyMap<string, Borrower>): Borrowing {
  const limited = [...levels].filter(([, { exempt }]) => !exempt);
  let nominalSum = 0;
  for (const { limits } of levels.values()) nominalSum += limits.nominal;
  let remaining = nominalSum;
  const current = new Map<string, Lending>();
  for (const [name, { exempt, limits, demand }] of levels) {
    if (!exempt) continue;
    const seats = Math.max(limits.least, demand.highest);
    remaining -= seats;
    current.set(name, { current: seats, target: seats });
  }
  const classes = limited.map(([, { limits, demand }]) => {
    // At least what the level used lately, up to its nominal limit, and what it may not lend.
    const lower = Math.max(limits.least, Math.min(limits.nominal, demand.highest));
    return { lower, upper: limits.most, target: Math.max(lower, demand.smoothed) };
  });
  const leastSum = limited.reduce((sum, [, { limits }]) => sum + limits.least, 0);
  const lowerSum = classes.reduce((sum, { lower }) => sum + lower, 0);
  let fairFraction = 0;
  let seatsOf: (i: number) => number;
  if (remaining <= leastSum) {
    seatsOf = (i) => limited[i]?.[1].limits.least ?? 0;
  } else if (remaining <= lowerSum) {
    const part = (remaining - leastSum) / (lowerSum - leastSum);
    seatsOf = (i) => {
      const least = limited[i]?.[1].limits.least ?? 0;
      return least + Math.round(((classes[i]?.lower ?? 0) - least) * part);
    };
  } else {
    const solved = allocate(nominalSum, classes);
    fairFraction = solved?.fraction ?? 0;
    seatsOf = (i) => (solved === undefined ? (limited[i]?.[1].current ?? 0) : Math.round(solved.amounts[i] ?? 0));
  }
  for (const [i, [name]] of limited.entries())
    current.set(name, { current: seatsOf(i), target: classes[i]?.target ?? 0 });
  return { levels: current, fairFraction };
}

export interface AllocationClass {
  readonly lower: number;
  readonly upper: number;
  readonly target: number;
}

export interface Allocation {
  readonly fraction: number;
  readonly amounts: readonly number[];
}

const MIN_TARGET = 0.001;
const TOLERANCE = 1e-7;

/**
 * Amounts that add up to `sum`: each is the same fraction of its class's target, unless a bound of the class limits it.
 * Undefined if the bounds allow no solution. The sum is a piecewise linear function of the fraction: it bends where a
 * class meets a bound.
 */
export function allocate(sum: number, classes: readonly AllocationClass[]): Allocation | undefined {
  const items = classes.map(({ lower, upper, target }) => ({ lower, upper, target: Math.max(target, MIN_TARGET) }));
  const amountsAt = (fraction: number) =>
    items.map(({ lower, upper, target }) => Math.max(lower, Math.min(upper, fraction * target)));
  const totalAt = (fraction: number) => amountsAt(fraction).reduce((total, amount) => total + amount, 0);
  const corners = items.flatMap(({ lower, upper, target }) => [lower / target, upper / target]).sort((a, b) => a - b);
  const [first = 0] = corners;
  const last = corners.at(-1) ?? 0;
  if (totalAt(first) - sum > TOLERANCE || sum - totalAt(last) > TOLERANCE) return undefined;
  let below = first;
  for (const corner of corners) {
    const total = totalAt(corner);
    if (total < sum - TOLERANCE) {
      below = corner;
      continue;
    }
    const start = totalAt(below);
    const fraction = total === start ? corner : below + ((corner - below) * (sum - start)) / (total - start);
    return { fraction, amounts: amountsAt(fraction) };
  }
  return { fraction: last, amounts: amountsAt(last) };
}
