/**
 * The life of one Pod on its node, as a machine that is moved by time alone: no timer, no I/O.
 *
 *     sandbox ──► init containers, one after the other; sidecars stay ──► regular containers ──► all have ended
 *                                                                              ▲        │
 *                                                                              └ backoff ┘
 *     deletion, deadline or end ──► what still runs stops, sidecars last ──► over
 *
 * 1. `advance` does everything that is due and returns when something is due next.
 * 2. It begins where the Pod's status says that it is: a node that starts again continues.
 * 3. When containers restart, when images are pulled again, how long a Pod has to end and in which order: the rules are
 *    the kubelet's (`lifecycle/`). Only what happens inside of containers is simulated (`script.ts`).
 */
import type { core } from "#api";
import {
  DEADLINE_EXCEEDED,
  deadlineMs,
  podGraceSeconds,
  shouldRestart,
  startVerdict,
  termSeconds,
} from "../lifecycle/index.ts";
import {
  type ContainerInstance,
  crashLoopBackOff,
  type ObservedContainer,
  type ObservedPod,
  timestamp,
} from "../pod-status/index.ts";
import {
  begin,
  type ContainerLife,
  type ContainerLifeOptions,
  end,
  firstStart,
  hasEndedWell,
  holdsOthers,
  newContainer,
  readyAfterMs,
  type Stop,
} from "./container-life.ts";
import { type PodScript, type Role, roleOf } from "./script.ts";

const KILLED = 137;
const NEVER = Number.POSITIVE_INFINITY;

export interface PodLifeOptions extends ContainerLifeOptions {
  readonly script: PodScript;
}

export class PodLife {
  readonly #options: PodLifeOptions;
  readonly #beganMs: number;
  readonly #containers = new Map<string, ContainerLife>();
  #pod: core.Pod;
  #hasSandbox: boolean;
  #stopping: Stop | undefined;
  #failure: ObservedPod["failure"];
  /** It waits for volumes: it begins when they are there. */
  isHeld = false;
  /** How often a container has started or ended. */
  #moves = 0;

  constructor(pod: core.Pod, options: PodLifeOptions, now: number) {
    this.#options = options;
    this.#pod = pod;
    const { startTime, podIP } = pod.status ?? {};
    this.#beganMs = startTime === undefined ? now : Date.parse(startTime);
    this.#take(pod, now);
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

  /** Containers that run now. */
  get running(): readonly (ContainerLife & { readonly current: ContainerInstance })[] {
    return [...this.#containers.values()].filter(runs);
  }

  /** Its containers are being stopped and one still runs. */
  get isStopping(): boolean {
    return this.#stopping !== undefined && this.#anyRuns();
  }

  /** The Pod is being deleted and none of its containers runs any more. */
  get isGone(): boolean {
    return this.#pod.metadata.deletionTimestamp !== undefined && !this.#anyRuns();
  }

  /** The Pod as the API has it now, with the resources that its node has given it. */
  update(pod: core.Pod, now: number): void {
    this.#pod = pod;
    this.#take(pod, now);
    if (pod.metadata.deletionTimestamp !== undefined) this.#stop(now);
  }

  /** Stops a container and starts it again, for example for a resize. */
  restart(name: string, now: number): void {
    const life = this.#containers.get(name);
    if (life?.current?.state !== "running") return;
    life.replacing ??= { sinceMs: now, graceFromMs: now, graceSeconds: podGraceSeconds(this.#pod) };
  }

  /** Does what is due; returns when to call it again, or Infinity. */
  advance(now: number): number {
    this.#meetDeadline(now);
    if (!this.#hasSandbox && this.#stopping === undefined) {
      if (this.isHeld) return this.#deadlineMs();
      const sandboxAtMs = this.#beganMs + this.#options.script.startDelayMs;
      if (now < sandboxAtMs) return Math.min(sandboxAtMs, this.#deadlineMs());
      this.#hasSandbox = true;
    }
    for (;;) {
      const moves = this.#moves;
      let nextMs = this.#endings(now);
      if (this.#stopping === undefined && this.#isDone() && this.#anyRuns()) {
        this.#stop(now);
        nextMs = this.#endings(now);
      }
      if (this.#stopping === undefined) nextMs = Math.min(nextMs, this.#starts(now));
      // One that has ended may let another start, and one that has started may be at its end.
      if (moves === this.#moves) return Math.min(nextMs, this.#deadlineMs());
    }
  }

  observed(now: number, addresses: Pick<ObservedPod, "hostIPs" | "podIPs">): ObservedPod {
    const anyRuns = this.#anyRuns();
    const isOver = this.#stopping !== undefined && !anyRuns;
    const containers = new Map<string, ObservedContainer>();
    for (const [name, { current, last, waiting, script }] of this.#containers) {
      const sinceMs = current?.state === "running" ? now - (current.startedAtMs ?? now) : -1;
      containers.set(name, {
        current,
        last,
        waiting,
        started: sinceMs >= script.startupDelayMs,
        ready: sinceMs >= readyAfterMs(script),
      });
    }
    const sandboxReady = this.#hasSandbox && !isOver && (anyRuns || !this.#isDone());
    return { ...addresses, containers, sandboxReady, isOver, failure: this.#failure };
  }

  #take({ spec, status }: core.Pod, now: number): void {
    const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
    const take = (container: core.Container, role: Role) => {
      const known = this.#containers.get(container.name);
      if (known === undefined) {
        const script = this.#options.script.container(container, role);
        this.#containers.set(container.name, newContainer(container, role, script, status));
      } else {
        const isReplaced = known.spec.image !== container.image && (role === "regular" || role === "sidecar");
        known.spec = container;
        if (isReplaced) this.restart(container.name, now);
      }
    };
    for (const container of initContainers) take(container, roleOf(container));
    for (const container of containers) take(container, "regular");
    for (const container of ephemeralContainers) take(container, "ephemeral");
  }

  #meetDeadline(now: number): void {
    if (this.#failure !== undefined || this.#deadlineMs() > now) return;
    this.#failure = DEADLINE_EXCEEDED;
    this.#stop(now);
  }

  #deadlineMs(): number {
    if (this.#pod.spec?.activeDeadlineSeconds === undefined) return NEVER;
    if (this.#failure !== undefined || this.#stopping !== undefined || this.#isDone()) return NEVER;
    return deadlineMs(this.#pod, timestamp(this.#beganMs));
  }

  /** A grace period can be shortened, never extended. */
  #stop(now: number): void {
    const graceSeconds = podGraceSeconds(this.#pod);
    const stop = this.#stopping;
    if (stop === undefined) this.#stopping = { sinceMs: now, graceFromMs: now, graceSeconds };
    else if (graceSeconds < stop.graceSeconds) this.#stopping = { ...stop, graceFromMs: now, graceSeconds };
  }

  /** Ends containers whose time is over; returns when the next one's is, or when one becomes ready. */
  #endings(now: number): number {
    let nextMs = NEVER;
    for (const life of this.#containers.values()) {
      const { current, script } = life;
      if (current?.state !== "running") continue;
      const startedMs = current.startedAtMs ?? now;
      const aloneMs = startedMs + script.runForMs;
      const stopped = this.#stopOf(life);
      const stoppedMs = stopped?.atMs ?? NEVER;
      if (aloneMs <= now && aloneMs <= stoppedMs) this.#end(life, aloneMs, script.exitCode, script.exitReason);
      else if (stoppedMs <= now) this.#end(life, stoppedMs, stopped?.exitCode ?? KILLED);
      else {
        nextMs = Math.min(nextMs, aloneMs, stoppedMs);
        for (const delayMs of [script.startupDelayMs, readyAfterMs(script)])
          if (startedMs + delayMs > now) nextMs = Math.min(nextMs, startedMs + delayMs);
      }
    }
    return nextMs;
  }

  /** When a container ends that is to be stopped, and with which code; undefined while it is not. */
  #stopOf(life: ContainerLife): { readonly atMs: number; readonly exitCode: number } | undefined {
    const stop = this.#stopping ?? life.replacing;
    const termMs = this.#stopping === undefined ? stop?.sinceMs : this.#termMs(life, this.#stopping);
    if (stop === undefined || termMs === undefined) return undefined;
    const { graceFromMs, graceSeconds } = stop;
    const fromMs = Math.max(termMs, graceFromMs);
    const killMs = fromMs + termSeconds(graceSeconds, fromMs - graceFromMs) * 1_000;
    const exitMs = termMs + life.script.stopDelayMs;
    return exitMs <= killMs && graceSeconds > 0
      ? { atMs: exitMs, exitCode: life.script.stopExitCode }
      : { atMs: killMs, exitCode: KILLED };
  }

  /**
   * When SIGTERM reaches a container: a sidecar's after all others have ended, the last one first; undefined until
   * then.
   */
  #termMs({ role, spec }: ContainerLife, { sinceMs }: Stop): number | undefined {
    if (role !== "sidecar") return sinceMs;
    let termMs = sinceMs;
    let isLater = false;
    for (const other of this.#containers.values()) {
      if (other.spec.name === spec.name) isLater = true;
      else if (isLater || other.role !== "sidecar") {
        if (other.current?.state === "running") return undefined;
        termMs = Math.max(termMs, other.current?.finishedAtMs ?? termMs);
      }
    }
    return termMs;
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
    const { current } = life;
    if (current?.state === "running") return NEVER;
    const dueMs = current === undefined ? firstStart(life, now) : this.#nextStart(life, current, now);
    if (dueMs > now) return dueMs;
    begin(life, now, this.#options);
    this.#moves++;
    return NEVER;
  }

  /** When a container that has ended starts again: never, now, or after its backoff. */
  #nextStart(life: ContainerLife, current: ContainerInstance, now: number): number {
    if (life.replacing !== undefined) return now;
    if (!this.#startsAgain(life)) return NEVER;
    const verdict = startVerdict(life.backoff, current.finishedAtMs ?? now, now);
    if (verdict.start) {
      life.backoff = verdict.backoff;
      return now;
    }
    life.waiting = crashLoopBackOff(this.#pod, life.spec.name, verdict.delayMs);
    return verdict.untilMs;
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
    const isOut = ({ spec: container, current, replacing }: ContainerLife) =>
      current?.state === "exited" && replacing === undefined && !shouldRestart(container, spec, current.exitCode ?? 0);
    const lives = [...this.#containers.values()];
    if (lives.some((life) => life.role === "init" && isOut(life) && !hasEndedWell(life))) return true;
    return lives.every((life) => life.role !== "regular" || isOut(life));
  }

  #end(life: ContainerLife, atMs: number, exitCode: number, reason?: string): void {
    end(life, atMs, exitCode, reason);
    this.#moves++;
  }

  #anyRuns(): boolean {
    for (const { current } of this.#containers.values()) if (current?.state === "running") return true;
    return false;
  }
}

function runs(life: ContainerLife): life is ContainerLife & { readonly current: ContainerInstance } {
  return life.current?.state === "running";
}
