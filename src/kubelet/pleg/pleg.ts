/**
 * Notices what happens to containers, and says which Pod to look at.
 *
 *     runtime --► events ──► Pod ──► onPod
 *     runtime ···► list of everything ──► difference ──► onPod      in case an event was missed
 *
 * 1. Whatever changes is noticed at the next listing at the latest, also across an absence of the runtime.
 * 2. An event costs one look at its Pod; a Pod that nobody knows is told to `onListed`, which has them all.
 * 3. While there are no events, listings come often.
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

export interface PlegOptions {
  readonly runtime: Pick<
    Runtime,
    "events" | "listPodSandboxes" | "listContainers" | "containerStatus" | "podSandboxStatus"
  >;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onPod: (uid: string) => void;
  /** The runtime answers after it did not: what failed meanwhile need not wait for its turn. */
  readonly onBack?: () => void;
  /** After each listing: the uids of all Pods of which the runtime has something. */
  readonly onListed: (uids: ReadonlySet<string>) => void;
}

const RELIST_MS = 5000;
const RELIST_WITHOUT_EVENTS_MS = 1000;
const RELIST_WHILE_AWAY_MS = 200;
const RECONNECT_MS = 200;
/** After this long without a listing the runtime counts as gone. */
const HEALTHY_MS = 3 * 60_000;
const MAX_KNOWN_IDS = 10_000;

export class Pleg {
  readonly #options: PlegOptions;
  readonly #podOf = new LruMap<string, string>(MAX_KNOWN_IDS);
  #before: Relisted = new Map();
  #hasEvents = false;
  #pausing: ChildController | undefined;
  #listedAtMs: number;

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#listedAtMs = options.clock.monotonic();
  }

  /** Undefined while all is well. */
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

  /** One look at everything. */
  async relist(signal: AbortSignal): Promise<void> {
    const { runtime, clock, onPod, onListed } = this.#options;
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandboxes(undefined, signal),
      runtime.listContainers(undefined, signal),
    ]);
    const after = relisted({ sandboxes, containers });
    for (const uid of changedPods(this.#before, after)) onPod(uid);
    this.#before = after;
    this.#listedAtMs = clock.monotonic();
    onListed(new Set(after.keys()));
  }

  async #relistLoop(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    let isWell = true;
    for (;;) {
      try {
        await this.relist(signal);
        if (!isWell) {
          log.info("the runtime answers again");
          this.#options.onBack?.();
        }
        isWell = true;
      } catch (error) {
        if (isAbort(error, signal)) return;
        if (isWell) log.warn("the runtime does not answer", { error });
        isWell = false;
      }
      const pauseMs = this.#hasEvents ? RELIST_MS : RELIST_WITHOUT_EVENTS_MS;
      await this.#pause(isWell ? pauseMs : RELIST_WHILE_AWAY_MS, signal);
    }
  }

  /** Cut short when events end: a runtime that is gone may be back before the next listing, and nobody would know. */
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
        log.debug("the runtime's events ended", { error });
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
      log.debug("an event's pod could not be found out", { containerId, error });
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
