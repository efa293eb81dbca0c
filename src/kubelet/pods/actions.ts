/** The input and the output of `podActions`. */
import type { core } from "#api";
import type { CrashBackoff, CrashBackoffLimits } from "../lifecycle/index.ts";
import type { ProbeVerdicts } from "../probes/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { RuntimePod } from "./runtime-pod.ts";

export interface PodActionsInput {
  readonly pod: core.Pod;
  readonly runtime: RuntimePod;
  /** By container id. */
  readonly probed: (containerId: string) => ProbeVerdicts;
  /** By container name. */
  readonly backoffs: ReadonlyMap<string, CrashBackoff>;
  /** Default: those of v1.36. */
  readonly crashBackoff?: CrashBackoffLimits | undefined;
  /** The resources that are applied to a running container. */
  readonly applied: (container: ContainerStatus) => core.ResourceRequirements;
  readonly nowMs: number;
}

export interface ResizeAction {
  readonly id: string;
  readonly name: string;
}

export type KillReason = "Changed" | "Unknown" | "Startup" | "Liveness" | "Over";

export interface KillAction {
  readonly id: string;
  readonly name: string;
  readonly reason: KillReason;
  readonly message: string;
}

export interface StartAction {
  readonly name: string;
  readonly role: "init" | "regular" | "ephemeral";
  readonly attempt: number;
  /** An instance that was created but never started, by a kubelet that ended in between: it is removed first. */
  readonly replaces?: string | undefined;
}

export interface PodActions {
  /** Stop all containers and the sandbox: the Pod has finished, or needs a new sandbox. */
  readonly killPod: boolean;
  readonly createSandbox?: { readonly attempt: number } | undefined;
  readonly kill: readonly KillAction[];
  readonly start: readonly StartAction[];
  /** Containers whose resources are changed in place. */
  readonly resize: readonly ResizeAction[];
  /** Waiting states of containers that will start later. */
  readonly waiting: ReadonlyMap<string, core.ContainerStateWaiting>;
  /** The backoffs after these starts. */
  readonly backoffs: ReadonlyMap<string, CrashBackoff>;
  /** When to sync again. */
  readonly wakeAtMs?: number | undefined;
}
