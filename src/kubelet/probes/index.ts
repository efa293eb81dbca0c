/** The whole public surface of probes. */
export { type HookRequest, type LifecycleHooks, lifecycleHooks } from "./hooks.ts";
export { type ContainerNetwork, containerNetwork, type HttpAnswer, type HttpQuestion } from "./network-probes.ts";
export type { PodProbes, ProbedContainer, ProbeVerdicts } from "./pod-probes.ts";
export { probeMetrics } from "./probe-metrics.ts";
export { firstState, isSettled, nextState, type ProbeKind, type ProbeState } from "./probe-state.ts";
export { type ProberOptions, prober } from "./prober.ts";
export { httpQuestion, type ProbeOutcome, portNumber, runProbe } from "./run-probe.ts";
