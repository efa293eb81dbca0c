/** The probes of Pods, as the kubelet uses them. */
import type { core } from "#api";
import type { Verdict } from "./probe-state.ts";

export interface ProbeVerdicts {
  readonly startup: Verdict;
  readonly liveness: Verdict;
}

export interface PodProbes {
  /** Replaces the set of probed containers of a Pod. */
  watch(pod: core.Pod, running: readonly ProbedContainer[], podIp: string): void;
  verdicts(containerId: string): ProbeVerdicts;
  readiness(containerId: string): Verdict;
  /** Ends the startup and liveness probes of a terminating Pod; readiness probes continue. */
  terminating(uid: string): void;
  forget(uid: string): void;
}

export interface ProbedContainer {
  readonly container: core.Container;
  readonly id: string;
  readonly startedAtMs: number;
}
