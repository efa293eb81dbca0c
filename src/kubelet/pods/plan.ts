/** Collects the actions for a Pod; decides on backoffs and restart counts. */
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

  /** Whether the container needs a new instance. */
  isWantedAgain(container: core.Container, found: ContainerStatus | undefined): boolean {
    if (found === undefined || found.state === "created" || found.state === "unknown") return true;
    if (found.state === "running") return this.#policyOf(container) !== "Never";
    return shouldRestart(container, this.spec, found.exitCode);
  }

  /** A container with a new image restarts whatever its policy; one that failed a probe, unless the policy is Never. */
  mayRestart(container: core.Container, { reason }: Kill): boolean {
    return reason === "Changed" || this.#policyOf(container) !== "Never";
  }

  kill(container: core.Container, { id, reason, message }: Kill): true {
    const isRestart = isSidecar(container) || this.mayRestart(container, { id, reason, message });
    const text = reason !== "Unknown" && isRestart ? `${message}, will be restarted` : message;
    this.#kill.push({ id, name: container.name, reason, message: text });
    return true;
  }

  start(container: AnyContainer, role: StartAction["role"]): void {
    const { pod, runtime, nowMs, crashBackoff } = this.input;
    const { name } = container;
    const ended = runtime.containers.find((each) => each.state === "exited" && nameOf(each) === name);
    if (ended !== undefined) {
      const verdict = startVerdict(this.#backoffs.get(name), ended.finishedAtMs, nowMs, crashBackoff);
      if (!verdict.start) {
        this.#waiting.set(name, crashLoopBackOff(pod, name, verdict.delayMs));
        this.#wakeAtMs = Math.min(this.#wakeAtMs, verdict.untilMs);
        // A container that is killed for its probe stops now and restarts after its backoff.
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

  /** The Pod has finished: stop sidecars and sandbox, too. */
  end(): void {
    this.killPod = true;
    this.#start.length = 0;
  }

  actions(): PodActions {
    return {
      killPod: this.killPod,
      createSandbox: this.createSandbox,
      kill: this.killPod ? [] : this.#kill,
      start: this.#start,
      resize: this.killPod ? [] : this.#resize,
      waiting: this.#waiting,
      backoffs: this.#backoffs,
      wakeAtMs: this.#wakeAtMs < Number.POSITIVE_INFINITY ? this.#wakeAtMs : undefined,
    };
  }

  #policyOf({ restartPolicy }: core.Container): string {
    return restartPolicy ?? this.spec.restartPolicy ?? "Always";
  }

  /** From the runtime's instances; if it has lost them, from the status. */
  #nextAttempt(name: string): number {
    const { pod, runtime } = this.input;
    const found = newest(runtime, name);
    if (found !== undefined) return attemptOf(found) + 1;
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
    const known = [...initContainerStatuses, ...containerStatuses].find((each) => each.name === name);
    const existed = known?.containerID !== undefined || known?.lastState?.terminated !== undefined;
    return existed ? known.restartCount + 1 : 0;
  }
}
