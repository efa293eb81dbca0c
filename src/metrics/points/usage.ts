/** Usage between two points: CPU as a rate, memory as of the last one. */
import type { Point } from "./point.ts";

export interface Usage {
  readonly cpuNanoCores: number;
  readonly memoryBytes: number;
  /** When it was measured last. */
  readonly atMs: number;
  readonly windowMs: number;
}

/** Undefined: the points do not belong together, because something has started again in between. */
export function usageBetween(before: Point, last: Point): Usage | undefined {
  const windowMs = last.atMs - before.atMs;
  const wentBack = (last.startedAtMs ?? 0) < (before.startedAtMs ?? 0) || last.cpuNanoSeconds < before.cpuNanoSeconds;
  if (windowMs <= 0 || wentBack) return undefined;
  const cpuNanoCores = Math.trunc((last.cpuNanoSeconds - before.cpuNanoSeconds) / (windowMs / 1000));
  return { cpuNanoCores, memoryBytes: last.memoryBytes, atMs: last.atMs, windowMs };
}
