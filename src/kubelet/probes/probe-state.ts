/**
 * The state machine of one probe: the verdict changes after enough equal results in a row.
 *
 * Before the first result, readiness is a failure, liveness a success, and startup unknown.
 */
import type { core } from "#api";

export type ProbeKind = "startup" | "liveness" | "readiness";
export type Verdict = "success" | "failure" | "unknown";

export interface ProbeState {
  readonly verdict: Verdict;
  readonly last: "success" | "failure" | undefined;
  /** How many equal results came in a row. */
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

/** Whether the probe is finished for this instance: it has started, or will be killed. */
export function isSettled(kind: ProbeKind, { verdict }: ProbeState): boolean {
  if (kind === "startup") return verdict !== "unknown";
  return kind === "liveness" && verdict === "failure";
}
