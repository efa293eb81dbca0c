/**
 * Tasks that live and end together.
 *
 * 1. Every task ends before `done` or `stop` returns: no promise outlives its group.
 * 2. The first failure aborts the other tasks, and `done` and `stop` throw it once all have ended. Later
 *    failures are kept in `failures` and passed to `onFailure`.
 * 3. A task that rejects because of the group's abort has not failed.
 * 4. Once its tasks have ended under `done` or `stop`, the group is over: it takes no more and lets go of its parent.
 */

import { childController, isAbort } from "./abort.ts";

export interface TaskFailure {
  readonly task: string;
  readonly error: unknown;
}

export interface TaskGroupOptions {
  /** The group ends with this signal. */
  readonly parent?: AbortSignal;
  /** Called for each failure when it happens, also for those after the first. */
  readonly onFailure?: (failure: TaskFailure) => void;
}

export class TaskGroup implements AsyncDisposable {
  readonly #controller;
  readonly #onFailure: ((failure: TaskFailure) => void) | undefined;
  readonly #running = new Set<Promise<void>>();
  readonly #failures: TaskFailure[] = [];
  #over = false;

  constructor({ parent, onFailure }: TaskGroupOptions = {}) {
    this.#controller = childController(parent);
    this.#onFailure = onFailure;
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
      await work(this.signal);
    } catch (error) {
      if (!isAbort(error, this.signal)) this.#fail({ task: name, error });
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
