/**
 * Tasks that live and end together.
 *
 * 1. Every task ends before `done` or `stop` returns: no promise outlives its group.
 * 2. The first failure aborts the other tasks, and `done` and `stop` throw it once all have ended. Later
 *    failures are kept in `failures` and passed to `onFailure`.
 * 3. A task that rejects because of the group's abort has not failed.
 * 4. Once its tasks have ended under `done` or `stop`, the group is over: it takes no more and lets go of its parent.
 * 5. With `restart`, a failure goes to `onFailure` alone: the task runs again after a backoff, and the others go on.
 */

import { childController, isAbort } from "../system/abort.ts";
import type { Clock } from "../system/clock.ts";
import type { Random } from "../system/random.ts";
import { Backoff } from "./backoff.ts";

const RESTART = { initialMs: 1_000, maxMs: 60_000 };
/** A task that ran this long before it failed is restarted as after its first failure. */
const RESTART_QUIET_MS = 10 * 60_000;

export interface TaskFailure {
  readonly task: string;
  readonly error: unknown;
}

export interface TaskGroupOptions {
  /** The group ends with this signal. */
  readonly parent?: AbortSignal;
  /** Called for each failure when it happens, also for those after the first. */
  readonly onFailure?: (failure: TaskFailure) => void;
  /** Tasks that fail run again. Default: a failure ends the group. */
  readonly restart?: { readonly clock: Clock; readonly random: Random };
}

export class TaskGroup implements AsyncDisposable {
  readonly #controller;
  readonly #onFailure: ((failure: TaskFailure) => void) | undefined;
  readonly #restart: TaskGroupOptions["restart"];
  readonly #running = new Set<Promise<void>>();
  readonly #failures: TaskFailure[] = [];
  #over = false;

  constructor({ parent, onFailure, restart }: TaskGroupOptions = {}) {
    this.#controller = childController(parent);
    this.#onFailure = onFailure;
    this.#restart = restart;
  }

  /** Aborts when the group stops, its parent aborts or a task fails. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get failures(): readonly TaskFailure[] {
    return this.#failures;
  }

  /** Starts a task. May be called within tasks: throws the abort's reason when the group is stopping. */
  run(name: string, work: (signal: AbortSignal) => Promise<void>): void {
    this.signal.throwIfAborted();
    if (this.#over) throw new Error(`cannot run ${name}: the group is over`);
    const task = this.#watch(name, work);
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  /** Waits until no task is left, those included that tasks start meanwhile. */
  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    this.#over = true;
    this.#controller[Symbol.dispose]();
    const [first] = this.#failures;
    if (first !== undefined) throw first.error;
  }

  /** Aborts all tasks and waits for them. */
  async stop(reason?: unknown): Promise<void> {
    if (!this.#over) this.#controller.abort(reason);
    await this.done();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Never rejects. */
  async #watch(name: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await (this.#restart === undefined ? work(this.signal) : this.#restarted(name, work, this.#restart));
    } catch (error) {
      if (!isAbort(error, this.signal)) this.#fail({ task: name, error });
    }
  }

  async #restarted(
    name: string,
    work: (signal: AbortSignal) => Promise<void>,
    { clock, random }: NonNullable<TaskGroupOptions["restart"]>,
  ): Promise<void> {
    const backoff = new Backoff(RESTART, random, { ms: RESTART_QUIET_MS, clock });
    for (;;) {
      try {
        return await work(this.signal);
      } catch (error) {
        if (isAbort(error, this.signal)) throw error;
        this.#onFailure?.({ task: name, error });
        await clock.sleep(backoff.next(), this.signal);
      }
    }
  }

  #fail(failure: TaskFailure): void {
    this.#failures.push(failure);
    this.#controller.abort(failure.error);
    try {
      this.#onFailure?.(failure);
    } catch (error) {
      this.#failures.push({ task: `${failure.task} (onFailure)`, error });
    }
  }
}
