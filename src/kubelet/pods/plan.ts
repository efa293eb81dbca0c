/** The actions for a Pod while they are gathered: restarts find their backoff and their number here. */
import type { core } from "#api";
import { isSame } from "../admission/index.ts";
import { type AnyContainer, attemptOf, nameOf } from "../containers/index.ts";
import { type CrashBackoff, isSidecar, shouldRestart, startVerdict } from "../lifecycle/index.ts";
import { crashLoopBackOff } from "../pod-status/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { KillAction, PodActions, PodActionsInput, ResizeAction, StartAction } from "./actions.ts";
import { newest } from "./runtime-pod.ts";

export type Kill = Pick<KillAction, "id" | "reason" | "message">;

export class Plan {
  readonly input: PodActionsInput;
  readonly spec: core.PodSpec;
  killPod = false;
  createSandbox: { readonly attempt: number } | undefined;
  readonly #kill: KillAction[] = [];
  readonly #start: StartAction[] = [];
  readonly #resize: ResizeAction[] = [];
  readonly #waiting = new Map<string, core.ContainerStateWaiting>();
  readonly #backoffs: Map<string, CrashBackoff>;
  #wakeAtMs = Number.POSITIVE_INFINITY;

  constructor(input: PodActionsInput) {
    this.input = input;
    this.spec = input.pod.spec ?? { containers: [] };
    this.#backoffs = new Map(input.backoffs);
  }

  get regular(): readonly core.Container[] {
    return this.spec.containers;
  }

  get ephemeral(): readonly core.EphemeralContainer[] {
    return this.spec.ephemeralContainers ?? [];
  }

  get starts(): number {
    return this.#start.length;
  }

  /** Whether there is to be one more instance after this one, which does not run. */
  isWantedAgain(container: core.Container, found: ContainerStatus | undefined): boolean {
    if (found === undefined || found.state === "created" || found.state === "unknown") return true;
    if (found.state === "running") return this.#policyOf(container) !== "Never";
    return shouldRestart(container, this.spec, found.exitCode);
  }

  /** What was killed for another image starts again whatever its policy; what failed a probe, unless that is Never. */
  mayRestart(container: core.Container, { reason }: Kill): boolean {
    return reason === "Changed" || this.#policyOf(container) !== "Never";
  }

  kill(container: core.Container, { id, reason, message }: Kill): true {
    const isRestart = isSidecar(container) || this.mayRestart(container, { id, reason, message });
    const words = reason !== "Unknown" && isRestart ? `${message}, will be restarted` : message;
    this.#kill.push({ id, name: container.name, reason, message: words });
    return true;
  }

  start(container: AnyContainer, role: StartAction["role"]): void {
    const { pod, runtime, nowMs } = this.input;
    const { name } = container;
    const ended = runtime.containers.find((each) => each.state === "exited" && nameOf(each) === name);
    if (ended !== undefined) {
      const verdict = startVerdict(this.#backoffs.get(name), ended.finishedAtMs, nowMs);
      if (!verdict.start) {
        this.#waiting.set(name, crashLoopBackOff(pod, name, verdict.delayMs));
        this.#wakeAtMs = Math.min(this.#wakeAtMs, verdict.untilMs);
        // A container that was to be killed for its probe goes down now, and waits like any other.
        return;
      }
      this.#backoffs.set(name, verdict.backoff);
    }
    const found = newest(runtime, name);
    if (found?.state === "created") this.#start.push({ name, role, attempt: attemptOf(found), replaces: found.id });
    else this.#start.push({ name, role, attempt: this.#nextAttempt(name) });
  }

  resize({ name, resources = {} }: core.Container, found: ContainerStatus): void {
    if (!isSame(this.input.applied(found), resources)) this.#resize.push({ id: found.id, name });
  }

  /** The Pod is over: sidecars and sandbox go as well. */
  end(): void {
    this.killPod = true;
    this.#start.length = 0;
  }

  actions(): PodActions {
    return {
      killPod: this.killPod,
      ...(this.createSandbox !== undefined && { createSandbox: this.createSandbox }),
      kill: this.killPod ? [] : this.#kill,
      start: this.#start,
      resize: this.killPod ? [] : this.#resize,
      waiting: this.#waiting,
      backoffs: this.#backoffs,
      ...(this.#wakeAtMs < Number.POSITIVE_INFINITY && { wakeAtMs: this.#wakeAtMs }),
    };
  }

  #policyOf({ restartPolicy }: core.Container): string {
    return restartPolicy ?? this.spec.restartPolicy ?? "Always";
  }

  /** The runtime knows its instances; of what it has lost, the status still tells. */
  #nextAttempt(name: string): number {
    const { pod, runtime } = this.input;
    const found = newest(runtime, name);
    if (found !== undefined) return attemptOf(found) + 1;
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
    const told = [...initContainerStatuses, ...containerStatuses].find((each) => each.name === name);
    const existed = told?.containerID !== undefined || told?.lastState?.terminated !== undefined;
    return existed ? told.restartCount + 1 : 0;
  }
}
