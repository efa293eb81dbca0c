/** What a kubelet asks of the probes of its Pods. */
import type { core } from "#api";
import type { Verdict } from "./probe-state.ts";

export interface ProbeVerdicts {
  readonly startup: Verdict;
  readonly liveness: Verdict;
}

export interface PodProbes {
  /** Probes what runs from now on, and nothing else. */
  watch(pod: core.Pod, running: readonly ProbedContainer[], podIp: string): void;
  verdicts(containerId: string): ProbeVerdicts;
  readiness(containerId: string): Verdict;
  /** Ends the probes of a Pod that is going: readiness of what still runs is told until the end, nothing is killed any more. */
  terminating(uid: string): void;
  forget(uid: string): void;
}

export interface ProbedContainer {
  readonly container: core.Container;
  readonly id: string;
  readonly startedAtMs: number;
}
