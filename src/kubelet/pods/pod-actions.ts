/**
 * What to do next for a running Pod: a pure function of the Pod, the runtime's state, probe results, and the time.
 *
 *     sandbox? ──no──► create one, start the first init container (or all containers, if there are none)
 *        │yes
 *     init containers, one after the other; the next one waits until a sidecar has started
 *        │all done
 *     containers: start missing ones, restart exited ones, kill those that failed a probe or have a new image
 *        │none runs, none will
 *     the Pod has finished: stop sidecars and sandbox
 *
 * 1. A new sandbox needs new containers: those of the old one are stopped first, and init containers run again.
 * 2. A restart waits for its backoff: the actions hold its waiting state and when to sync again.
 * 3. Only backoffs are remembered: after a restart of the kubelet the same runtime state leads to the same actions.
 */
import type { core } from "#api";
import { needsRestart } from "../admission/index.ts";
import { CONTAINER_HASH, containerHash } from "../containers/index.ts";
import { isSidecar, shouldRestart } from "../lifecycle/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { PodActions, PodActionsInput } from "./actions.ts";
import { type Kill, Plan } from "./plan.ts";
import { newest } from "./runtime-pod.ts";

export function podActions(input: PodActionsInput): PodActions {
  const plan = new Plan(input);
  const sandbox = sandboxOf(input);
  if (sandbox.id === undefined) planNewSandbox(plan, sandbox.attempt);
  else planInSandbox(plan, sandbox.id);
  return plan.actions();
}

/** The sandbox to use, or the attempt number of a new one. */
function sandboxOf({ pod, runtime: { sandboxes } }: PodActionsInput): {
  readonly id?: string;
  readonly attempt: number;
} {
  const [latest] = sandboxes;
  if (latest === undefined) return { attempt: 0 };
  const attempt = latest.metadata.attempt + 1;
  if (sandboxes.filter(({ state }) => state === "ready").length > 1 || latest.state !== "ready") return { attempt };
  // The sandbox has lost its network, or never got it.
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
  // No sandbox while all containers wait for their backoff.
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

/** `hasBegun`: a regular container exists, so that only sidecars matter any more. */
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
        // An init container that is not retried fails the Pod.
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

/** Why a running container is to be killed; undefined if it is not. */
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
