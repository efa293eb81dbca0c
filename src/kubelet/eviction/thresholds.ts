/**
 * Thresholds of eviction, and which of them are crossed for how long. Pure.
 *
 * 1. A hard threshold acts at once, a soft one after its grace period.
 * 2. A threshold that was crossed stays so until its minimum reclaim is reached, too: the node does not evict one Pod
 *    after the other for a few bytes each.
 * 3. A pressure is reported for a while after it has passed, so that the condition does not flap.
 */
import { parseQuantity, scaledValue } from "#api";
import type { MachineUsage } from "../host/index.ts";
import type { Pressure } from "../node/index.ts";
import { type Shortage, SIGNALS } from "./eviction.ts";

export interface Threshold {
  readonly signal: string;
  /** A quantity, or a percentage of the capacity. */
  readonly value: string;
  /** 0: it acts at once. */
  readonly graceMs: number;
  readonly isHard: boolean;
  readonly minimumReclaim?: string | undefined;
}

export interface ThresholdConfig {
  readonly hard: Readonly<Record<string, string>>;
  readonly soft?: Readonly<Record<string, string>> | undefined;
  readonly softGraceMs?: Readonly<Record<string, number>> | undefined;
  readonly minimumReclaim?: Readonly<Record<string, string>> | undefined;
}

/** Throws Error with upstream's words. A threshold of 0 % or 100 % is none. */
export function thresholdsOf(config: ThresholdConfig): readonly Threshold[] {
  const { hard, soft = {}, softGraceMs = {}, minimumReclaim = {} } = config;
  for (const [signal, graceMs] of Object.entries(softGraceMs)) {
    if (!(signal in SIGNALS)) throw new Error(`unsupported eviction signal: ${signal}`);
    if (graceMs < 0) throw new Error(`invalid eviction grace period specified: ${signal}, must be a positive value`);
  }
  for (const [signal, value] of Object.entries(minimumReclaim)) {
    if (!(signal in SIGNALS)) throw new Error(`unsupported eviction signal: ${signal}`);
    checkValue(signal, value, "minimum reclaim");
  }
  const read = (values: Readonly<Record<string, string>>, isHard: boolean) =>
    Object.entries(values).flatMap(([signal, value]): Threshold[] => {
      if (!(signal in SIGNALS)) throw new Error(`unsupported eviction signal: ${signal}`);
      checkValue(signal, value, "threshold");
      if (value === "0%" || value === "100%") return [];
      const graceMs = isHard ? 0 : softGraceMs[signal];
      if (graceMs === undefined)
        throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`);
      return [{ signal, value, graceMs, isHard, minimumReclaim: minimumReclaim[signal] }];
    });
  return [...read(hard, true), ...read(soft, false)];
}

function checkValue(signal: string, value: string, what: string): void {
  if (value.endsWith("%")) {
    const percent = Number(value.slice(0, -1));
    if (!Number.isFinite(percent)) throw new Error(`eviction percentage ${what} ${signal} is not a number: ${value}`);
    if (percent < 0) throw new Error(`eviction percentage ${what} ${signal} must be >= 0%: ${value}`);
    if (percent > 100) throw new Error(`eviction percentage ${what} ${signal} must be <= 100%: ${value}`);
    return;
  }
  let amount: bigint;
  try {
    amount = parseQuantity(value).unscaled;
  } catch (error) {
    throw new Error(`eviction ${what} ${signal}: ${(error as Error).message}`, { cause: error });
  }
  if (amount < 0n || (amount === 0n && what === "threshold"))
    throw new Error(`eviction ${what} ${signal} must be positive: ${value}`);
}

export interface PressureState {
  /** Since when a threshold is crossed, by its place among the thresholds. */
  readonly since: ReadonlyMap<number, number>;
  /** When a pressure was last seen. */
  readonly lastSeen: ReadonlyMap<Pressure, number>;
}

export const NO_PRESSURE: PressureState = { since: new Map(), lastSeen: new Map() };

export interface Observation {
  readonly state: PressureState;
  readonly pressures: ReadonlySet<Pressure>;
  /** Thresholds whose grace period is over. */
  readonly due: readonly Shortage[];
}

export function observePressure(
  usage: MachineUsage,
  thresholds: readonly Threshold[],
  before: PressureState,
  { nowMs, transitionMs }: { readonly nowMs: number; readonly transitionMs: number },
): Observation {
  const since = new Map<number, number>();
  const lastSeen = new Map(before.lastSeen);
  const due: Shortage[] = [];
  for (const [at, threshold] of thresholds.entries()) {
    const begunMs = before.since.get(at);
    const shortage = shortageOf(usage, threshold, begunMs !== undefined);
    if (shortage === undefined) continue;
    since.set(at, begunMs ?? nowMs);
    if (nowMs - (begunMs ?? nowMs) < threshold.graceMs) continue;
    lastSeen.set(shortage.pressure, nowMs);
    due.push(shortage);
  }
  for (const [pressure, atMs] of lastSeen) if (nowMs - atMs > transitionMs) lastSeen.delete(pressure);
  return { state: { since, lastSeen }, pressures: new Set(lastSeen.keys()), due };
}

/** A file system that does not count inodes never crosses theirs. */
function shortageOf(usage: MachineUsage, threshold: Threshold, wasCrossed: boolean): Shortage | undefined {
  const { signal, value, isHard, minimumReclaim = "0" } = threshold;
  const known = SIGNALS[signal];
  if (known === undefined) return undefined;
  const { pressure, resource, read } = known;
  const [available, capacity] = read(usage);
  const limit = amountOf(value, capacity) + (wasCrossed ? amountOf(minimumReclaim, capacity) : 0);
  if (capacity <= 0 || available >= limit) return undefined;
  return { signal, pressure, resource, threshold: value, available, isHard };
}

function amountOf(value: string, capacity: number): number {
  if (value.endsWith("%")) return (capacity * Number(value.slice(0, -1))) / 100;
  return Number(scaledValue(parseQuantity(value), 0));
}
