/**
 * The pod lifecycle event generator: notices changes of containers and calls `onPod` for their Pods.
 *
 *     runtime --► events ──► Pod ──► onPod
 *     runtime ···► list of everything ──► difference ──► onPod      in case an event was missed
 *
 * 1. A change is noticed at the next listing at the latest, also if the runtime was away meanwhile.
 * 2. `onListed` gets the uids of all Pods in the runtime, also of those that the kubelet does not know.
 * 3. Without events, listings are frequent.
 */
import {
  type ChildController,
  type Clock,
  childController,
  isAbort,
  type Logger,
  LruMap,
  type Random,
  TaskGroup,
} from "#base";
import { POD_UID } from "../containers/index.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { changedPods, type Relisted, relisted } from "./changes.ts";
import type { PlegObserver } from "./pleg-metrics.ts";

export interface PlegOptions {
  readonly runtime: Pick<
    Runtime,
    "events" | "listPodSandboxes" | "listContainers" | "containerStatus" | "podSandboxStatus"
  >;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onPod: (uid: string) => void;
  /** The runtime answers again: failed steps can be retried at once. */
  readonly onBack?: () => void;
  readonly observer?: PlegObserver | undefined;
  /** After each listing: the uids of all Pods in the runtime. */
  readonly onListed: (uids: ReadonlySet<string>) => void;
}

const RELIST_MS = 5000;
const RELIST_WITHOUT_EVENTS_MS = 1000;
const RELIST_WHILE_AWAY_MS = 200;
const RECONNECT_MS = 200;
/** After this long without a listing the PLEG is unhealthy. */
const HEALTHY_MS = 3 * 60_000;
const MAX_KNOWN_IDS = 10_000;

export class Pleg {
  readonly #options: PlegOptions;
  readonly #podOf = new LruMap<string, string>(MAX_KNOWN_IDS);
  #before: Relisted = new Map();
  #hasEvents = false;
  #pausing: ChildController | undefined;
  #listedAtMs: number;
  /** When the latest listing began. */
  #begunMs: number | undefined;

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#listedAtMs = options.clock.monotonic();
  }

  /** Undefined while it is healthy. */
  get problem(): string | undefined {
    const sinceMs = this.#options.clock.monotonic() - this.#listedAtMs;
    if (sinceMs < HEALTHY_MS) return undefined;
    return `PLEG is not healthy: pleg was last seen active ${Math.round(sinceMs / 1000)}s ago; threshold is 3m0s`;
  }

  async run(signal: AbortSignal): Promise<void> {
    const tasks = new TaskGroup({ parent: signal });
    tasks.run("events of the runtime", (running) => this.#follow(running));
    tasks.run("listings of the runtime", (running) => this.#relistLoop(running));
    await tasks.done();
  }

  /** One listing. */
  async relist(signal: AbortSignal): Promise<void> {
    const { runtime, clock, observer, onPod, onListed } = this.#options;
    const startMs = clock.monotonic();
    const sinceLastMs = this.#begunMs === undefined ? undefined : startMs - this.#begunMs;
    this.#begunMs = startMs;
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandboxes(undefined, signal),
      runtime.listContainers(undefined, signal),
    ]);
    const after = relisted({ sandboxes, containers });
    for (const uid of changedPods(this.#before, after)) onPod(uid);
    this.#before = after;
    this.#listedAtMs = clock.monotonic();
    observer?.listed(this.#listedAtMs - startMs, sinceLastMs, clock.now());
    onListed(new Set(after.keys()));
  }

  async #relistLoop(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    let isWell = true;
    for (;;) {
      try {
        await this.relist(signal);
        if (!isWell) {
          log.info("container runtime answers again");
          this.#options.onBack?.();
        }
        isWell = true;
      } catch (error) {
        if (isAbort(error, signal)) return;
        if (isWell) log.warn("container runtime does not answer", { error });
        isWell = false;
      }
      const pauseMs = this.#hasEvents ? RELIST_MS : RELIST_WITHOUT_EVENTS_MS;
      await this.#pause(isWell ? pauseMs : RELIST_WHILE_AWAY_MS, signal);
    }
  }

  /** Cut short when events end: the runtime may go away and come back between two listings. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    using pausing = childController(signal);
    this.#pausing = pausing;
    try {
      await this.#options.clock.sleep(ms, pausing.signal);
    } catch (error) {
      if (signal.aborted || !isAbort(error, pausing.signal)) throw error;
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { runtime, clock, log } = this.#options;
    for (;;) {
      try {
        this.#hasEvents = true;
        for await (const { containerId, podSandboxId } of runtime.events(signal))
          await this.#notice(containerId, podSandboxId, signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.debug("runtime events ended", { error });
      }
      this.#hasEvents = false;
      this.#pausing?.abort();
      await clock.sleep(RECONNECT_MS, signal);
    }
  }

  async #notice(containerId: string, sandboxId: string | undefined, signal: AbortSignal): Promise<void> {
    const { onPod, log } = this.#options;
    try {
      const uid = await this.#uidOf(containerId, sandboxId, signal);
      if (uid !== undefined) onPod(uid);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      log.debug("pod of a runtime event unknown", { containerId, error });
    }
  }

  async #uidOf(containerId: string, sandboxId: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#podOf.get(containerId) ?? (sandboxId === undefined ? undefined : this.#podOf.get(sandboxId));
    if (known !== undefined) return known;
    const { runtime } = this.#options;
    const found =
      (await runtime.containerStatus(containerId, signal)) ??
      (await runtime.podSandboxStatus(sandboxId ?? containerId, signal));
    const uid = found?.labels[POD_UID];
    if (uid === undefined) return undefined;
    this.#podOf.set(containerId, uid);
    if (sandboxId !== undefined) this.#podOf.set(sandboxId, uid);
    return uid;
  }
}
