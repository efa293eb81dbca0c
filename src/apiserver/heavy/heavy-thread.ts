/**
 * The thread that heavy writes run in, and large bodies are decoded in: started with the first of them, ended when it
 * had nothing to do for a while.
 *
 *     run ──► waiting, by user ──► thread: a few at a time ──► ended
 *                  ▲                 │  ▲
 *                  │                 ▼  │ what only the serving thread can do
 *              429, full            answer
 *
 * 1. What waits is bounded, in all and for each user; users take turns. More is refused: 429 with Retry-After.
 * 2. A job that waits for an answer of the serving thread does not keep others from running.
 * 3. A thread that ends, or does not come back in time, takes the jobs with it that have begun: 503, nothing is done
 *    twice. The others run in the next thread.
 */
import { Worker } from "node:worker_threads";
import { StatusError, serviceUnavailable, tooManyRequests } from "#api";
import type { Clock, Logger, Timer } from "#base";
import type {
  Answer,
  Asked,
  DecodeJob,
  Defined,
  Ended,
  FromThread,
  HeavySetUp,
  Job,
  Question,
  ToThread,
} from "./protocol.ts";

/** A source file beside this one, or an entry of its own in the bundle. */
const THREAD = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./heavy-thread.mjs", import.meta.url);

/** As many keep a processor busy while others wait for an answer. */
const AT_ONCE = 2;
const MOST_WAITING = 64;
const MOST_OF_A_USER = 8;
const RETRY_AFTER_SECONDS = 1;
/** A request of 3 MB takes a second or two. */
const LONGEST_MS = 60_000;
const IDLE_MS = 60_000;
/** A request that needs more memory ends the thread, not the server. */
const MOST_MEMORY_MB = 2_048;
/** Most of what a large request makes lives as long as it. */
const YOUNG_MB = 64;

export interface HeavyThreadOptions {
  readonly setUp: HeavySetUp;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: a thread of this program. */
  readonly startThread?: ((setUp: HeavySetUp) => Worker) | undefined;
}

export interface Task {
  readonly user: string;
  /** Called when the job's turn has come. */
  begin(): Promise<Beginning>;
  answer(question: Question): Promise<Answer>;
  warned(message: string): void;
}

export interface Beginning {
  readonly job: Omit<Job, "id"> | Omit<DecodeJob, "id">;
  /** The definition that its kind is compiled from. */
  readonly definition?: { readonly of: object; readonly text: () => string } | undefined;
}

interface Running extends Task {
  readonly done: PromiseWithResolvers<Ended["outcome"]>;
  /** Questions that are being answered. */
  questions: number;
  isActive: boolean;
  ended: Ended["outcome"] | undefined;
}

export class HeavyThread {
  readonly #options: HeavyThreadOptions;
  #worker: Worker | undefined;
  /** Definitions that the thread has. */
  #defined = new WeakSet<object>();
  /** In the order in which users take turns. */
  readonly #waiting = new Map<string, Running[]>();
  readonly #running = new Map<number, Running>();
  readonly #ofUser = new Map<string, number>();
  #waitingCount = 0;
  #active = 0;
  #lastId = 0;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: HeavyThreadOptions) {
    this.#options = options;
  }

  async run(task: Task): Promise<Ended["outcome"]> {
    const ofUser = this.#ofUser.get(task.user) ?? 0;
    if (ofUser >= MOST_OF_A_USER || this.#waitingCount >= MOST_WAITING)
      throw tooManyRequests("too many large requests, please try again later", RETRY_AFTER_SECONDS);
    if (this.#closed) throw serviceUnavailable("the server is shutting down");
    this.#ofUser.set(task.user, ofUser + 1);
    const running: Running = {
      user: task.user,
      begin: () => task.begin(),
      answer: (question) => task.answer(question),
      warned: (message) => task.warned(message),
      done: Promise.withResolvers(),
      questions: 0,
      isActive: false,
      ended: undefined,
    };
    this.#waiting.set(task.user, [...(this.#waiting.get(task.user) ?? []), running]);
    this.#waitingCount++;
    this.#next();
    try {
      return await running.done.promise;
    } finally {
      if (ofUser === 0 && this.#ofUser.get(task.user) === 1) this.#ofUser.delete(task.user);
      else this.#ofUser.set(task.user, (this.#ofUser.get(task.user) ?? 1) - 1);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    const stopping = serviceUnavailable("the server is shutting down");
    for (const task of [...this.#waiting.values()].flat()) task.done.reject(stopping);
    this.#waiting.clear();
    this.#waitingCount = 0;
    await this.#end(stopping);
  }

  /** Starts what may run now: the first of the user whose turn it is. */
  #next(): void {
    while (this.#active < AT_ONCE && this.#waitingCount > 0) {
      const [user, tasks] = this.#waiting.entries().next().value as [string, Running[]];
      const [task, ...rest] = tasks;
      this.#waiting.delete(user);
      if (rest.length > 0) this.#waiting.set(user, rest);
      this.#waitingCount--;
      if (task !== undefined) this.#begin(task);
    }
    this.#watch();
  }

  #begin(task: Running): void {
    const id = ++this.#lastId;
    this.#running.set(id, task);
    this.#activate(task);
    task.begin().then(
      ({ job, definition }) => {
        if (!this.#running.has(id)) return;
        if (definition !== undefined) this.#define(definition);
        this.#post({ ...job, id });
      },
      (error: unknown) => {
        this.#leave(id);
        task.done.reject(error);
      },
    );
  }

  #define({ of, text }: NonNullable<Beginning["definition"]>): void {
    this.#thread();
    if (this.#defined.has(of)) return;
    this.#defined.add(of);
    this.#post({ type: "define", definition: text() } satisfies Defined);
  }

  #heard(message: FromThread): void {
    const task = this.#running.get(message.id);
    if (task === undefined) return;
    if (message.type === "warned") task.warned(message.message);
    else if (message.type === "asked") this.#asked(task, message);
    else {
      task.ended = message.outcome;
      this.#endIfDone(message.id, task);
    }
  }

  #asked(task: Running, { id, question }: Asked): void {
    const isTold = question.do === "received";
    task.questions++;
    if (!isTold) this.#rest(task);
    void task.answer(question).then((answer) => {
      task.questions--;
      if (this.#running.get(id) !== task) return;
      if (!isTold) {
        this.#activate(task);
        this.#post({ type: "reply", id, answer });
      }
      this.#endIfDone(id, task);
    });
    this.#next();
  }

  #endIfDone(id: number, task: Running): void {
    if (task.ended === undefined || task.questions > 0) return;
    this.#leave(id);
    task.done.resolve(task.ended);
  }

  #leave(id: number): void {
    const task = this.#running.get(id);
    if (task === undefined) return;
    this.#running.delete(id);
    this.#rest(task);
    this.#next();
  }

  #activate(task: Running): void {
    if (!task.isActive) this.#active++;
    task.isActive = true;
  }

  #rest(task: Running): void {
    if (task.isActive) this.#active--;
    task.isActive = false;
  }

  /** A thread that works has to come back; one that does not ends after a while. */
  #watch(): void {
    const { clock, log } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#worker === undefined) return;
    if (this.#running.size === 0) {
      this.#worker.unref();
      this.#timer = clock.timer(IDLE_MS, () => void this.#end(undefined));
    } else if (this.#active > 0) {
      this.#timer = clock.timer(LONGEST_MS, () => {
        log.error("a large request took too long; its thread is replaced", { tasks: this.#running.size });
        void this.#end(new StatusError("Timeout", "Timeout: request did not complete within requested timeout"));
      });
    }
  }

  #post(message: ToThread): void {
    const thread = this.#thread();
    thread.ref();
    thread.postMessage(message);
    this.#watch();
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const { setUp, startThread = defaultThread, log } = this.#options;
    const worker = startThread(setUp);
    worker.on("message", (message: FromThread) => this.#heard(message));
    let why: unknown;
    worker.on("error", (error) => {
      why = error;
    });
    worker.once("exit", (code) => {
      if (this.#worker !== worker) return;
      log.error("the thread of large requests has ended; the next one starts another", { code, error: why });
      this.#lost(serviceUnavailable("the thread of this request has ended, please try again later"));
    });
    this.#worker = worker;
    return worker;
  }

  async #end(error: unknown): Promise<void> {
    const worker = this.#worker;
    this.#lost(error);
    await worker?.terminate();
  }

  #lost(error: unknown): void {
    this.#worker = undefined;
    this.#defined = new WeakSet();
    const tasks = [...this.#running.values()];
    this.#running.clear();
    for (const task of tasks) {
      this.#rest(task);
      task.done.reject(error);
    }
    if (!this.#closed) this.#next();
  }
}

function defaultThread(workerData: HeavySetUp): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MOST_MEMORY_MB, maxYoungGenerationSizeMb: YOUNG_MB };
  return new Worker(THREAD, { workerData, resourceLimits });
}
