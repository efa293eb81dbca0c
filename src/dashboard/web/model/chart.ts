/** Points of charts, in a box of a given size: y grows downwards. */
import type { Point } from "./history.ts";

export interface Box {
  readonly width: number;
  readonly height: number;
}

export interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
  readonly max: number;
}

/** Of all series together; the highest value is a round one. */
export function scaleOf(series: readonly (readonly Point[])[], ...levels: readonly number[]): Scale {
  const times = series.flatMap((points) => points.map(({ atMs }) => atMs));
  const values = [...series.flatMap((points) => points.map(({ value }) => value)), ...levels];
  const fromMs = Math.min(...times);
  const toMs = Math.max(...times);
  if (times.length === 0) return { fromMs: 0, toMs: 1, max: rounded(Math.max(0, ...values)) };
  return { fromMs, toMs: Math.max(toMs, fromMs + 1), max: rounded(Math.max(0, ...values)) };
}

/** 1, 2 or 5 times a power of ten, and not less; 1 for nothing. */
export function rounded(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const times = [1, 2, 5, 10].find((each) => each * power >= value * (1 - 1e-9)) ?? 10;
  return times * power;
}

/** `steps`: a value stays until the next one. */
export function pathOf(points: readonly Point[], scale: Scale, box: Box, steps = false): string {
  return points
    .map((point, at) => {
      const [x, y] = [xOf(point.atMs, scale, box), yOf(point.value, scale, box)];
      if (at === 0) return `M${x} ${y}`;
      return steps ? `H${x}V${y}` : `L${x} ${y}`;
    })
    .join("");
}

/** The same, closed along the bottom. */
export function areaOf(points: readonly Point[], scale: Scale, box: Box): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return "";
  return `${pathOf(points, scale, box)}L${xOf(last.atMs, scale, box)} ${box.height}L${xOf(first.atMs, scale, box)} ${box.height}Z`;
}

export function yOf(value: number, { max }: Scale, { height }: Box): number {
  return tenths(height - (Math.min(value, max) / max) * height);
}

function xOf(atMs: number, { fromMs, toMs }: Scale, { width }: Box): number {
  return tenths(((atMs - fromMs) / (toMs - fromMs)) * width);
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
