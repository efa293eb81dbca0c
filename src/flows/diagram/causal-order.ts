/**
 * The lines of a diagram, each below the lines that caused it. Unrelated lines stand in the order of time. Clocks alone
 * do not suffice: they are too coarse for what happens within a millisecond, and those of different processes differ.
 */
import type { FlowRecord } from "../record/record.ts";

export type Arrow = "call" | "answer" | "watch" | "persisted" | "note";

export interface Line {
  readonly at: number;
  readonly arrow: Arrow;
  readonly from: string;
  /** As `from` for a note. */
  readonly to: string;
  readonly text: string;
  /** How often it happened. */
  readonly times: number;
  readonly records: readonly FlowRecord[];
}

export interface Step {
  readonly line: Line;
  /** The keys by which other steps refer to it. */
  readonly keys: readonly string[];
  /** Steps, or their keys, that come before it; unknown keys are ignored. */
  readonly after: readonly (Step | string)[];
}

/** Steps in a chain: each follows from the one before it, the first from `after`. */
export function inTurn(
  after: Step["after"],
  ...lines: readonly { readonly line: Line; readonly keys?: readonly string[] }[]
): Step[] {
  const steps: Step[] = [];
  for (const { line, keys = [] } of lines) {
    const previous = steps.at(-1);
    steps.push({ line, keys, after: previous === undefined ? after : [previous] });
  }
  return steps;
}

export function causalOrder(steps: readonly Step[]): Line[] {
  const byTime = [...steps].sort((a, b) => a.line.at - b.line.at);
  const byKey = new Map(byTime.flatMap((step) => step.keys.map((key) => [key, step] as const)));
  const done = new Set<Step>();
  const lines: Line[] = [];
  let latest = Number.NEGATIVE_INFINITY;
  const add = (step: Step) => {
    if (done.has(step)) return;
    done.add(step);
    for (const each of step.after) {
      const earlier = typeof each === "string" ? byKey.get(each) : each;
      if (earlier !== undefined) add(earlier);
    }
    latest = Math.max(latest, step.line.at);
    lines.push(latest === step.line.at ? step.line : { ...step.line, at: latest });
  };
  for (const step of byTime) add(step);
  return lines;
}
