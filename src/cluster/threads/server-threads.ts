/**
 * The threads of an API server, as the composition roots use them: before the first thread's server starts, and once it
 * listens.
 *
 *     store ──► ServerThreads ──► share ──► first thread's server ──► start ──► the other threads
 */
import { availableParallelism } from "node:os";
import type { ApiServer, LocalExtensions } from "#apiserver";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import type { Recorder } from "#flows";
import { type Store, StoreHost } from "#store";
import type { ServingPki } from "../config/serving-pki.ts";
import { Load } from "./load.ts";
import { ServingThreads } from "./serving-threads.ts";
import type { ThreadShare } from "./thread-share.ts";

/** `auto`: one, and more while that one is busy. */
export type ThreadCount = number | "auto";

/** More than that only wait for the first one. */
const MOST_BY_ITSELF = 4;

export interface ServerThreadsOptions {
  readonly count: ThreadCount;
  readonly store: Store;
  /** Other processes write to the store. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The first thread's server, once it listens. */
export interface StartedServer extends Pick<ApiServer, "port" | "handle" | "writeAuditLines" | "spread"> {
  readonly recorder: Recorder | undefined;
}

/** Undefined: one thread serves, as if there were no others. */
export function serverThreads(options: ServerThreadsOptions): ServerThreads | undefined {
  const { count } = options;
  const most = count === "auto" ? Math.min(availableParallelism(), MOST_BY_ITSELF) : count;
  return most === 1 ? undefined : new ServerThreads(options, most);
}

export class ServerThreads {
  readonly store: StoreHost;
  readonly share: ThreadShare;
  readonly #options: ServerThreadsOptions;
  readonly #most: number;
  readonly #background: TaskGroup;
  #threads: ServingThreads | undefined;

  constructor(options: ServerThreadsOptions, most: number) {
    this.#options = options;
    this.#most = most;
    const { store, isShared, count, log } = options;
    const failed = (error: unknown) => log.warn("serving threads have missed changes", { error });
    const host = new StoreHost(store, { isShared, failed });
    this.store = host;
    this.#background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
    this.share = {
      thread: {
        newest: () => host.newest.get(),
        isFirst: true,
        metrics: async (own) => this.#threads?.metrics(own) ?? own,
      },
      count: count === "auto" ? 1 : count,
      startedMs: performance.timeOrigin,
      stopOthers: (ownStop) => this.#stop(ownStop),
    };
  }

  /** `server`: how the others are started. Resolves when those that start at once have started, or have failed to. */
  async start(
    server: object,
    { port, handle, recorder, writeAuditLines, spread }: StartedServer,
    extensions?: LocalExtensions,
  ): Promise<void> {
    const { clock, random, log, count } = this.#options;
    const { startedMs, count: shares } = this.share;
    const threads = new ServingThreads({
      data: { server, port, count: shares, startedMs },
      store: this.store,
      handle,
      extensions: extensions ?? new Map(),
      recorder,
      writeAuditLines,
      background: this.#background,
      clock,
      random,
      log,
    });
    this.#threads = threads;
    if (count !== "auto") {
      await Promise.all(Array.from({ length: this.#most - 1 }, () => threads.add()));
      return;
    }
    this.#background.run("load of the serving thread", async (signal) => {
      const load = new Load(clock);
      for (let i = 1; i < this.#most; i++) {
        await load.isHigh(signal);
        await threads.add();
        // What is connected stays where it is: clients are asked to connect again for their next requests.
        spread(i / (i + 1));
      }
    });
  }

  /** How many other threads serve. */
  get serving(): number {
    return this.#threads?.serving ?? 0;
  }

  /** Ends a thread at once, as an error in it would: another takes its place. */
  async terminateOne(): Promise<void> {
    await this.#threads?.terminateOne();
  }

  renew(pki: ServingPki): void {
    this.#threads?.renew(pki);
  }

  async #stop(ownStop: Promise<void>): Promise<void> {
    await this.#threads?.stop(ownStop);
    await this.#background.stop();
  }
}
