/** Pods in a few letters, for tables. */
import type { core } from "#api";
import type { PodSample } from "../samples.ts";

export const NOW = Date.parse("2030-01-01T12:00:00Z");

export const timeAt = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/**
 * `R` ready for an hour; `U` running, never ready; `P` pending; `F` failed; `D` being deleted; `N` ready, but started a
 * minute ago and measured since; `S` the same, measured before it was ready; `L` was ready once, not now; `B` running
 * for an hour without a condition.
 */
export type Letter = "R" | "U" | "P" | "F" | "D" | "N" | "S" | "L" | "B";

const HOUR = 3_600_000;
const MINUTE = 60_000;

export function podOf(letter: Letter, index: number, request = "100m"): core.Pod {
  const name = `${letter.toLowerCase()}${index}`;
  const isNew = letter === "N" || letter === "S";
  const startedMs = NOW - (isNew ? MINUTE : HOUR);
  const isReady = "RNSFD".includes(letter);
  const changedMs = letter === "L" ? NOW - 10 * MINUTE : letter === "S" ? NOW - 20_000 : startedMs + 5_000;
  const phase = letter === "P" ? "Pending" : letter === "F" ? "Failed" : "Running";
  const conditions = "PB".includes(letter)
    ? []
    : [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: timeAt(changedMs) }];
  const requests = request === "" ? {} : { cpu: request, memory: request };
  return {
    metadata: { name, namespace: "default", ...(letter === "D" && { deletionTimestamp: timeAt(NOW) }) },
    spec: { containers: [{ name: "main", image: "i", resources: { requests } }] },
    status: { phase, startTime: timeAt(startedMs), conditions },
  };
}

/** `RRU`: three Pods. */
export function podsOf(letters: string, request?: string): readonly core.Pod[] {
  return [...letters].map((letter, index) => podOf(letter as Letter, index, request));
}

/** A value for each Pod in turn, in thousandths; undefined: it has none. */
export function samplesOf(
  pods: readonly core.Pod[],
  values: readonly (number | undefined)[],
): ReadonlyMap<string, PodSample> {
  return new Map(
    pods.flatMap(({ metadata }, at) => {
      const value = values[at];
      return value === undefined
        ? []
        : [[metadata.name ?? "", { milli: BigInt(value), atMs: NOW - 10_000, windowMs: 30_000 }] as const];
    }),
  );
}
