/** One container of a Pod's life: its instances, and what its next start waits for. */
import type { core } from "#api";
import { type CrashBackoff, isBackedOff, type PullFailure, pullFailed, START_RETRY_MS } from "../lifecycle/index.ts";
import { type ContainerInstance, errImagePull, imagePullBackOff } from "../pod-status/index.ts";
import { adopted } from "./adopted.ts";
import type { ContainerScript, Role } from "./script.ts";

export interface ContainerLife {
  spec: core.Container;
  readonly role: Role;
  readonly script: ContainerScript;
  current: ContainerInstance | undefined;
  last: ContainerInstance | undefined;
  waiting: core.ContainerStateWaiting | undefined;
  /** When it starts, once the containers before it allow that. */
  startAtMs: number | undefined;
  backoff: CrashBackoff | undefined;
  pulls: number;
  pull: PullFailure | undefined;
  /** It is stopped and started again without a backoff: for a new image or for other resources. */
  replacing: Stop | undefined;
}

/** SIGTERM at `sinceMs`; the grace period begins at `graceFromMs`, which is later if it was shortened. */
export interface Stop {
  readonly sinceMs: number;
  readonly graceFromMs: number;
  readonly graceSeconds: number;
}

export interface ContainerLifeOptions {
  readonly newId: () => string;
  /** The imageID of a container's status. */
  readonly imageID: (image: string) => string;
}

export function newContainer(
  spec: core.Container,
  role: Role,
  script: ContainerScript,
  status: core.PodStatus | undefined,
): ContainerLife {
  return {
    spec,
    role,
    script,
    ...adopted(spec.name, role, status),
    waiting: undefined,
    startAtMs: undefined,
    backoff: undefined,
    pulls: 0,
    pull: undefined,
    replacing: undefined,
  };
}

/** When a container that has never run starts: after its delay, once its image is there. */
export function firstStart(life: ContainerLife, now: number): number {
  const { script, spec } = life;
  life.startAtMs ??= now + script.startDelayMs;
  if (life.startAtMs > now) return life.startAtMs;
  const image = spec.image ?? "";
  if (life.pull !== undefined && isBackedOff(life.pull, now)) {
    life.waiting = imagePullBackOff(image, `ErrImagePull: ${life.pull.message}`);
    life.startAtMs = life.pull.atMs + life.pull.delayMs;
    return life.startAtMs;
  }
  if (life.pulls >= script.failedPulls) return now;
  life.pulls++;
  life.pull = pullFailed(life.pull, now, `failed to pull and unpack image "${image}": it is scripted to fail`);
  life.waiting = errImagePull(life.pull.message);
  life.startAtMs = now + START_RETRY_MS;
  return life.startAtMs;
}

/** Whether the containers after it have to wait. */
export function holdsOthers(life: ContainerLife, now: number): boolean {
  const { role, current, script } = life;
  if (role === "init") return !hasEndedWell(life);
  if (role !== "sidecar") return false;
  return current?.state !== "running" || now - (current.startedAtMs ?? now) < script.startupDelayMs;
}

export function begin(life: ContainerLife, now: number, { newId, imageID }: ContainerLifeOptions): void {
  const image = life.spec.image ?? "";
  if (life.current !== undefined) life.last = life.current;
  life.current = {
    id: newId(),
    state: "running",
    image,
    imageID: imageID(image),
    restartCount: life.current === undefined ? 0 : life.current.restartCount + 1,
    startedAtMs: now,
  };
  life.waiting = undefined;
  life.startAtMs = undefined;
  life.replacing = undefined;
}

export function end(life: ContainerLife, atMs: number, exitCode: number, reason?: string): void {
  if (life.current === undefined) return;
  const why = reason ?? (exitCode === 0 ? "Completed" : "Error");
  life.current = { ...life.current, state: "exited", finishedAtMs: atMs, exitCode, reason: why };
}

export function hasEndedWell({ current }: ContainerLife): boolean {
  return current?.state === "exited" && current.exitCode === 0;
}

export function readyAfterMs({ startupDelayMs, readyDelayMs }: ContainerScript): number {
  return Math.max(startupDelayMs, readyDelayMs);
}
