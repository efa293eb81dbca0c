/** What can be done for a Pod, and what that is decided from: the words between podActions and whoever carries them out. */
import type { core } from "#api";
import type { CrashBackoff } from "../lifecycle/index.ts";
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
  /** What is in force for a running container. */
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
  /** An instance that was made but never started, as by a kubelet that ended in between: it makes way. */
  readonly replaces?: string;
}

export interface PodActions {
  /** All containers and the sandbox go: because the Pod is over, or before a new sandbox is made. */
  readonly killPod: boolean;
  readonly createSandbox?: { readonly attempt: number };
  readonly kill: readonly KillAction[];
  readonly start: readonly StartAction[];
  /** Containers that go on with other resources. */
  readonly resize: readonly ResizeAction[];
  /** Why containers that are to start do not yet. */
  readonly waiting: ReadonlyMap<string, core.ContainerStateWaiting>;
  /** Backoffs as they are once the starts have been made. */
  readonly backoffs: ReadonlyMap<string, CrashBackoff>;
  /** When something will be due. */
  readonly wakeAtMs?: number;
}
