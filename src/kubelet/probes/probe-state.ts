/**
 * What a row of probe results means: a verdict changes only after enough equal results in a row.
 *
 * Before the first result a container is not ready, and alive; whether it has started is not known.
 */
import type { core } from "#api";

export type ProbeKind = "startup" | "liveness" | "readiness";
export type Verdict = "success" | "failure" | "unknown";

export interface ProbeState {
  readonly verdict: Verdict;
  readonly last: "success" | "failure" | undefined;
  /** How many results like the last came in a row. */
  readonly run: number;
}

const FIRST: Readonly<Record<ProbeKind, Verdict>> = { startup: "unknown", liveness: "success", readiness: "failure" };

export function firstState(kind: ProbeKind): ProbeState {
  return { verdict: FIRST[kind], last: undefined, run: 0 };
}

export function nextState(
  { verdict, last, run }: ProbeState,
  result: "success" | "failure",
  { successThreshold = 1, failureThreshold = 3 }: Pick<core.Probe, "successThreshold" | "failureThreshold">,
): ProbeState {
  const count = result === last ? run + 1 : 1;
  const enough = count >= (result === "success" ? successThreshold : failureThreshold);
  return { verdict: enough ? result : verdict, last: result, run: count };
}

/** Whether there is nothing more to find out about this instance of the container: it has started, or has to go. */
export function isSettled(kind: ProbeKind, { verdict }: ProbeState): boolean {
  if (kind === "startup") return verdict !== "unknown";
  return kind === "liveness" && verdict === "failure";
}
