/**
 * What to do next for a Pod that is to run: a pure function of the Pod, what the runtime has of it, what its probes say, and the time.
 *
 *     sandbox? ──no──► make one, start the first init container (or all containers, if there are none)
 *        │yes
 *     init containers, one after the other; a sidecar holds up the next until it has started
 *        │all done
 *     containers: start what is missing or has ended and is to be restarted; kill what failed its probe or has another image
 *        │none runs, none will
 *     the Pod is over: everything goes, sidecars and sandbox included
 *
 * 1. A new sandbox means new containers: what ran in the one before is ended first, and init containers run again.
 * 2. A restart waits for its backoff; what waits is told with the reason, and when to look again.
 * 3. Nothing is decided from memory but backoffs: after a restart of the kubelet the same runtime state leads to the same actions.
 */
import type { core } from "#api";
import { type AnyContainer, CONTAINER_HASH, containerHash } from "../containers/index.ts";
import { crashLoopBackOff, isSidecar, shouldRestart } from "../pod-status/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import { type CrashBackoff, startVerdict } from "./crash-backoff.ts";
import { isSame, needsRestart } from "./resize.ts";
import { attemptOf, newest, type RuntimePod } from "./runtime-pod.ts";

export type ProbeVerdict = "success" | "failure" | "unknown";

export interface ProbeVerdicts {
  readonly startup: ProbeVerdict;
  readonly liveness: ProbeVerdict;
}

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

export function podActions(input: PodActionsInput): PodActions {
  const plan = new Plan(input);
  const sandbox = sandboxOf(input);
  if (sandbox.id === undefined) planNewSandbox(plan, sandbox.attempt);
  else planInSandbox(plan, sandbox.id);
  return plan.actions();
}

/** The sandbox to use, or the attempt at which a new one is to be made. */
function sandboxOf({ pod, runtime: { sandboxes } }: PodActionsInput): {
  readonly id?: string;
  readonly attempt: number;
} {
  const [latest] = sandboxes;
  if (latest === undefined) return { attempt: 0 };
  const attempt = latest.metadata.attempt + 1;
  if (sandboxes.filter(({ state }) => state === "ready").length > 1 || latest.state !== "ready") return { attempt };
  // The network of this sandbox was lost, or never finished.
  if (pod.spec?.hostNetwork !== true && latest.ips.length === 0) return { attempt };
  return { id: latest.id, attempt: latest.metadata.attempt };
}

function planNewSandbox(plan: Plan, attempt: number): void {
  const { pod, runtime } = plan.input;
  plan.killPod = runtime.sandboxes.length > 0;
  const wanted = plan.regular.filter((container) => plan.isWantedAgain(container, newest(runtime, container.name)));
  if (wanted.length === 0) return;
  const first = pod.spec?.initContainers?.[0];
  const before = plan.starts;
  if (first !== undefined) plan.start(first, "init");
  else for (const container of wanted) plan.start(container, "regular");
  for (const container of first === undefined ? plan.ephemeral : [])
    if (newest(runtime, container.name) === undefined) plan.start(container, "ephemeral");
  // While everything waits for its backoff, an empty sandbox would be of no use.
  if (plan.starts > before) plan.createSandbox = { attempt };
}

function planInSandbox(plan: Plan, sandboxId: string): void {
  const { runtime } = plan.input;
  for (const container of plan.ephemeral)
    if (newest(runtime, container.name) === undefined) plan.start(container, "ephemeral");
  const hasBegun = plan.regular.some(({ name }) => newest(runtime, name, sandboxId) !== undefined);
  const initialized = planInit(plan, sandboxId, hasBegun);
  if (initialized !== "done") return;
  let living = 0;
  for (const container of plan.regular) {
    const found = newest(runtime, container.name, sandboxId);
    if (found?.state === "running") {
      const kill = killOf(plan, container, found);
      if (kill === undefined) {
        living++;
        plan.resize(container, found);
      } else if (plan.kill(container, kill) && plan.mayRestart(container, kill)) {
        plan.start(container, "regular");
        living++;
      }
    } else if (plan.isWantedAgain(container, found ?? newest(runtime, container.name))) {
      if (found?.state === "unknown") plan.kill(container, unknownState(container, found));
      plan.start(container, "regular");
      living++;
    }
  }
  if (living === 0) plan.end();
}

/** `hasBegun`: a regular container exists, so that init containers are history and only sidecars are looked after. */
function planInit(plan: Plan, sandboxId: string, hasBegun: boolean): "done" | "waiting" {
  const { runtime, pod } = plan.input;
  const all = pod.spec?.initContainers ?? [];
  const last = all.findLastIndex(({ name }) => newest(runtime, name, sandboxId) !== undefined);
  for (const [index, container] of all.entries()) {
    const found = newest(runtime, container.name, sandboxId);
    if (isSidecar(container)) {
      if (index <= last || hasBegun) keepSidecar(plan, container, found);
      if (index === last && !hasBegun && !hasStarted(plan, container, found)) return "waiting";
    } else if (index === last && !hasBegun) {
      if (found?.state === "running") return "waiting";
      if (found?.state !== "exited" || found.exitCode !== 0) {
        // One that may not be tried again fails the Pod.
        if (found?.state === "exited" && !shouldRestart(container, plan.spec, found.exitCode)) plan.end();
        else plan.start(container, "init");
        return "waiting";
      }
    }
    if (index === last + 1 && !hasBegun) {
      plan.start(container, "init");
      return "waiting";
    }
  }
  return "done";
}

function keepSidecar(plan: Plan, container: core.Container, found: ContainerStatus | undefined): void {
  const kill = found?.state === "running" ? killOf(plan, container, found) : undefined;
  if (found?.state === "running" && kill === undefined) {
    plan.resize(container, found);
    return;
  }
  if (kill !== undefined) plan.kill(container, kill);
  else if (found?.state === "unknown") plan.kill(container, unknownState(container, found));
  plan.start(container, "init");
}

function hasStarted({ input }: Plan, { startupProbe }: core.Container, found: ContainerStatus | undefined): boolean {
  if (found?.state !== "running") return false;
  return startupProbe === undefined || input.probed(found.id).startup === "success";
}

type Kill = Pick<KillAction, "id" | "reason" | "message">;

/** Why a running container has to go, if it has. */
function killOf({ input }: Plan, container: core.Container, found: ContainerStatus): Kill | undefined {
  const { name } = container;
  const { id, annotations } = found;
  const hash = annotations[CONTAINER_HASH];
  if (hash !== undefined && hash !== containerHash(container))
    return { id, reason: "Changed", message: `Container ${name} definition changed` };
  if (needsRestart(container, input.applied(found), container.resources ?? {}))
    return { id, reason: "Changed", message: `Container ${name} resize requires restart` };
  const { startup, liveness } = input.probed(id);
  if (startup === "failure") return { id, reason: "Startup", message: `Container ${name} failed startup probe` };
  if (liveness === "failure") return { id, reason: "Liveness", message: `Container ${name} failed liveness probe` };
  return undefined;
}

function unknownState({ name }: core.Container, { id }: ContainerStatus): Kill {
  return { id, reason: "Unknown", message: `Container ${name} is in unknown state, try killing it before restart` };
}

/** Actions while they are gathered. */
class Plan {
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
    const ended = runtime.containers.find((each) => each.state === "exited" && isOf(each, name));
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

function isOf(container: ContainerStatus, name: string): boolean {
  return newest({ uid: "", sandboxes: [], containers: [container] }, name) !== undefined;
}
