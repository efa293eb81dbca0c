/**
 * Questions to a scheduler in another process, which keeps its reasons to itself. It is not called: it comes, answers what it was asked, and waits for what
 * is asked next. So it needs no address that others know, and nobody else has to log in to it.
 *
 *     k8ts why ──► ask ─────┐                      ┌──► what was answered
 *     scheduler ──► listen ─┴──► asked ──► answer ─┘
 *
 * 1. Nobody waits for a scheduler that has not been here lately, nor for long for one that has.
 * 2. A question is told again to who comes next until it is answered.
 */
import type { Clock } from "#base";

/** How long a scheduler is kept when nothing is asked. */
export const LISTEN_MS = 20_000;
const ANSWER_MS = 2_000;
/** From the end of one visit to the next. */
const AWAY_MS = 10_000;
const MAX_QUESTIONS = 100;

export type Attempts = readonly object[];

export class DistantScheduler {
  readonly #clock: Clock;
  readonly #open = new Map<string, PromiseWithResolvers<Attempts>>();
  #listening: PromiseWithResolvers<void> | undefined;
  #leftMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Attempts for the Pod with this uid; none if nobody says. */
  async ask(uid: string): Promise<Attempts> {
    if (!this.#isThere || this.#open.size >= MAX_QUESTIONS) return [];
    const question = this.#open.get(uid) ?? Promise.withResolvers<Attempts>();
    this.#open.set(uid, question);
    this.#listening?.resolve();
    const timer = this.#clock.timer(ANSWER_MS, () => question.resolve([]));
    try {
      return await question.promise;
    } finally {
      timer.cancel();
      this.#open.delete(uid);
    }
  }

  answer(uid: string, attempts: Attempts): void {
    this.#open.get(uid)?.resolve(attempts);
    this.#open.delete(uid);
  }

  /** What is asked: at once if something is, else when something will be, or nothing after a while. One listens at a time: who comes later takes the place. */
  async listen(signal: AbortSignal): Promise<readonly string[]> {
    this.#listening?.resolve();
    const listening = Promise.withResolvers<void>();
    this.#listening = listening;
    const leave = () => listening.resolve();
    const timer = this.#clock.timer(LISTEN_MS, leave);
    signal.addEventListener("abort", leave, { once: true });
    if (this.#open.size > 0 || this.#closed || signal.aborted) leave();
    await listening.promise;
    timer.cancel();
    signal.removeEventListener("abort", leave);
    if (this.#listening !== listening) return [];
    this.#listening = undefined;
    this.#leftMs = this.#clock.monotonic();
    return [...this.#open.keys()];
  }

  /** Nobody waits here any longer. */
  close(): void {
    this.#closed = true;
    this.#listening?.resolve();
    for (const { resolve } of this.#open.values()) resolve([]);
  }

  get #isThere(): boolean {
    return !this.#closed && (this.#listening !== undefined || this.#clock.monotonic() - this.#leftMs < AWAY_MS);
  }
}
