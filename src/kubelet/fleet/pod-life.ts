/**
 * The life of one Pod on its node, as a machine that is moved by time alone: no timer, no I/O.
 *
 *     sandbox ──► init containers, one after the other; sidecars stay ──► regular containers ──► all have ended
 *                                                                              ▲        │
 *                                                                              └ backoff ┘
 *     deletion or deadline ──► those that run stop ──► over
 *
 * 1. `advance` does everything that is due and says when something is due next.
 * 2. It begins where the Pod's status says that it is: a node that starts again goes on.
 * 3. Restarts wait 1 s at first, then 10 s, doubling up to 5 minutes; what ran for 10 minutes starts over. Pulls of images that fail wait likewise.
 */
import type { core } from "#api";
import { shouldRestart } from "../lifecycle/index.ts";
import {
  type ContainerInstance,
  crashLoopBackOff,
  errImagePull,
  imagePullBackOff,
  type ObservedContainer,
  type ObservedPod,
} from "../pod-status/index.ts";
import { adopted } from "./adopted.ts";
import { FIRST_RESTART_MS, pullDelayMs, restartDelayMs } from "./restart-delay.ts";
import { type ContainerScript, type PodScript, type Role, roleOf } from "./script.ts";

const HEALTHY_MS = 600_000;
const KILLED = 137;
const DEADLINE = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};
const NEVER = Number.POSITIVE_INFINITY;

export interface ContainerLife {
  readonly spec: core.Container;
  readonly role: Role;
  readonly script: ContainerScript;
  current: ContainerInstance | undefined;
  last: ContainerInstance | undefined;
  waiting: core.ContainerStateWaiting | undefined;
  /** When it starts next, once its turn has come. */
  startAtMs: number | undefined;
  crashes: number;
  pulls: number;
}

export interface PodLifeOptions {
  readonly script: PodScript;
  readonly newId: () => string;
  /** What an image is known as once it has been pulled. */
  readonly imageID: (image: string) => string;
}

export class PodLife {
  readonly #options: PodLifeOptions;
  readonly #beganMs: number;
  readonly #containers = new Map<string, ContainerLife>();
  #pod: core.Pod;
  #hasSandbox: boolean;
  #stopping: { readonly sinceMs: number; readonly graceMs: number } | undefined;
  #failure: ObservedPod["failure"];
  /** How often a container has started or ended. */
  #moves = 0;

  constructor(pod: core.Pod, options: PodLifeOptions, now: number) {
    this.#options = options;
    this.#pod = pod;
    const { startTime, podIP } = pod.status ?? {};
    this.#beganMs = startTime === undefined ? now : Date.parse(startTime);
    this.#take(pod);
    this.#hasSandbox = this.hasRun || (podIP !== undefined && pod.spec?.hostNetwork !== true);
    this.update(pod, now);
  }

  get hasSandbox(): boolean {
    return this.#hasSandbox;
  }

  get hasRun(): boolean {
    for (const { current } of this.#containers.values()) if (current !== undefined) return true;
    return false;
  }

  /** It was asked to go and nothing of it runs any more. */
  get isGone(): boolean {
    return this.#pod.metadata.deletionTimestamp !== undefined && !this.#anyRuns();
  }

  /** The Pod as the API has it now, with the resources that its node has given. */
  update(pod: core.Pod, now: number): void {
    this.#pod = pod;
    this.#take(pod);
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    if (deletionTimestamp === undefined) return;
    const graceMs = (deletionGracePeriodSeconds ?? this.#graceSeconds()) * 1_000;
    const sinceMs = this.#stopping?.sinceMs ?? now;
    this.#stopping = { sinceMs, graceMs: Math.min(graceMs, this.#stopping?.graceMs ?? graceMs) };
  }

  /** Ends a container and starts it anew, as a resize may ask for. */
  restart(name: string, now: number): void {
    const life = this.#containers.get(name);
    if (life?.current?.state !== "running" || this.#stopping !== undefined) return;
    this.#end(life, now, life.script.stopExitCode);
    life.startAtMs = now;
  }

  /** Does what is due; returns when to come again, or Infinity. */
  advance(now: number): number {
    this.#meetDeadline(now);
    if (!this.#hasSandbox && this.#stopping === undefined) {
      const sandboxAtMs = this.#beganMs + this.#options.script.startDelayMs;
      if (now < sandboxAtMs) return Math.min(sandboxAtMs, this.#deadlineMs());
      this.#hasSandbox = true;
    }
    for (;;) {
      const moves = this.#moves;
      let nextMs = this.#endings(now);
      if (this.#stopping === undefined) {
        this.#stopSidecarsIfDone(now);
        nextMs = Math.min(nextMs, this.#starts(now));
      }
      // One that has ended may let another start, and one that has started may be at its end.
      if (moves === this.#moves) return Math.min(nextMs, this.#deadlineMs());
    }
  }

  observed(now: number, addresses: Pick<ObservedPod, "hostIPs" | "podIPs">): ObservedPod {
    const isOver = this.#stopping !== undefined && !this.#anyRuns();
    const containers = new Map<string, ObservedContainer>();
    for (const [name, { current, last, waiting, script }] of this.#containers) {
      const sinceMs = current?.state === "running" ? now - (current.startedAtMs ?? now) : -1;
      containers.set(name, {
        ...(current !== undefined && { current }),
        ...(last !== undefined && { last }),
        ...(waiting !== undefined && { waiting }),
        started: sinceMs >= script.startupDelayMs,
        ready: sinceMs >= readyAfterMs(script),
      });
    }
    return {
      ...addresses,
      containers,
      sandboxReady: this.#hasSandbox && !isOver && !this.#isDone(),
      isOver,
      ...(this.#failure !== undefined && { failure: this.#failure }),
    };
  }

  #take({ spec, status }: core.Pod): void {
    const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
    const add = (container: core.Container, role: Role) => {
      const known = this.#containers.get(container.name);
      const script = known?.script ?? this.#options.script.container(container, role);
      const began = known ?? { role, script, ...adopted(container.name, role, status) };
      this.#containers.set(container.name, { ...began, spec: container });
    };
    for (const container of initContainers) add(container, roleOf(container));
    for (const container of containers) add(container, "regular");
    for (const container of ephemeralContainers) add(container, "ephemeral");
  }

  #meetDeadline(now: number): void {
    if (this.#failure !== undefined || this.#deadlineMs() > now) return;
    this.#failure = DEADLINE;
    this.#stopping ??= { sinceMs: now, graceMs: this.#graceSeconds() * 1_000 };
  }

  #deadlineMs(): number {
    const seconds = this.#pod.spec?.activeDeadlineSeconds;
    if (seconds === undefined || this.#failure !== undefined || this.#isDone()) return NEVER;
    return this.#beganMs + seconds * 1_000;
  }

  #graceSeconds(): number {
    return this.#pod.spec?.terminationGracePeriodSeconds ?? 30;
  }

  /** Containers whose time is over, and when the next one's is; also when one becomes ready. */
  #endings(now: number): number {
    let nextMs = NEVER;
    for (const life of this.#containers.values()) {
      const { current, script } = life;
      if (current?.state !== "running") continue;
      const startedMs = current.startedAtMs ?? now;
      const aloneMs = startedMs + script.runForMs;
      const stop = this.#stopping;
      const stoppedMs = stop === undefined ? NEVER : stop.sinceMs + Math.min(script.stopDelayMs, stop.graceMs);
      if (aloneMs <= now && aloneMs <= stoppedMs) this.#ended(life, aloneMs);
      else if (stoppedMs <= now) {
        const isKilled = script.stopDelayMs > 0 && script.stopDelayMs >= (stop?.graceMs ?? NEVER);
        this.#end(life, stoppedMs, isKilled ? KILLED : script.stopExitCode);
      } else {
        nextMs = Math.min(nextMs, aloneMs, stoppedMs);
        for (const delayMs of [script.startupDelayMs, readyAfterMs(script)])
          if (startedMs + delayMs > now) nextMs = Math.min(nextMs, startedMs + delayMs);
      }
    }
    return nextMs;
  }

  #ended(life: ContainerLife, atMs: number): void {
    const { spec } = this.#pod;
    const { exitCode, exitReason } = life.script;
    this.#end(life, atMs, exitCode, exitReason);
    if (life.role === "ephemeral" || spec === undefined || !shouldRestart(life.spec, spec, exitCode)) return;
    if (life.role === "init" && exitCode === 0) return;
    const ranMs = atMs - (life.current?.startedAtMs ?? atMs);
    if (ranMs >= HEALTHY_MS) life.crashes = 0;
    const delayMs = restartDelayMs(life.crashes++);
    life.startAtMs = atMs + delayMs;
    if (delayMs > FIRST_RESTART_MS) life.waiting = crashLoopBackOff(this.#pod, life.spec.name, delayMs);
  }

  /** In the order of the Pod: each init container waits for those before it, the regular ones for all of them. */
  #starts(now: number): number {
    let nextMs = NEVER;
    const lives = [...this.#containers.values()];
    const hasInitialized = lives.some(({ role, current }) => role === "regular" && current !== undefined);
    let isHeld = false;
    for (const life of lives) {
      if (isHeld && life.role !== "ephemeral") continue;
      nextMs = Math.min(nextMs, this.#startIfDue(life, now));
      isHeld ||= !hasInitialized && holdsOthers(life, now);
    }
    return nextMs;
  }

  #startIfDue(life: ContainerLife, now: number): number {
    const { current, script, spec } = life;
    if (current?.state === "running" || (current !== undefined && !this.#startsAgain(life))) return NEVER;
    life.startAtMs ??= now + script.startDelayMs;
    if (life.startAtMs > now) return life.startAtMs;
    if (current === undefined && life.pulls < script.failedPulls) {
      const image = spec.image ?? "";
      const problem = `failed to pull and unpack image "${image}": it is scripted to fail`;
      const waitMs = pullDelayMs(life.pulls++);
      life.waiting = life.pulls === 1 ? errImagePull(problem) : imagePullBackOff(image, problem);
      life.startAtMs = now + waitMs;
      return life.startAtMs;
    }
    begin(life, now, this.#options);
    this.#moves++;
    return NEVER;
  }

  #startsAgain({ role, spec, current }: ContainerLife): boolean {
    const exitCode = current?.exitCode ?? 0;
    if (role === "ephemeral" || (role === "init" && exitCode === 0) || this.#pod.spec === undefined) return false;
    return !this.#isDone() && shouldRestart(spec, this.#pod.spec, exitCode);
  }

  /** No regular container runs or will run again; or an init container has failed for good. */
  #isDone(): boolean {
    const { spec } = this.#pod;
    if (spec === undefined) return true;
    const isOut = ({ spec: container, current }: ContainerLife) =>
      current?.state === "exited" && !shouldRestart(container, spec, current.exitCode ?? 0);
    const lives = [...this.#containers.values()];
    if (lives.some((life) => life.role === "init" && isOut(life) && !hasEndedWell(life))) return true;
    return lives.every((life) => life.role !== "regular" || isOut(life));
  }

  #stopSidecarsIfDone(now: number): void {
    if (!this.#isDone()) return;
    for (const life of this.#containers.values()) if (life.current?.state === "running") this.#end(life, now, 0);
  }

  #end(life: ContainerLife, atMs: number, exitCode: number, reason?: string): void {
    if (life.current === undefined) return;
    const why = reason ?? (exitCode === 0 ? "Completed" : "Error");
    life.current = { ...life.current, state: "exited", finishedAtMs: atMs, exitCode, reason: why };
    this.#moves++;
  }

  #anyRuns(): boolean {
    for (const { current } of this.#containers.values()) if (current?.state === "running") return true;
    return false;
  }
}

function holdsOthers(life: ContainerLife, now: number): boolean {
  const { role, current, script } = life;
  if (role === "init") return !hasEndedWell(life);
  if (role !== "sidecar") return false;
  return current?.state !== "running" || now - (current.startedAtMs ?? now) < script.startupDelayMs;
}

function begin(life: ContainerLife, now: number, { newId, imageID }: PodLifeOptions): void {
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
}

function hasEndedWell({ current }: ContainerLife): boolean {
  return current?.state === "exited" && current.exitCode === 0;
}

function readyAfterMs({ startupDelayMs, readyDelayMs }: ContainerScript): number {
  return Math.max(startupDelayMs, readyDelayMs);
}
