/**
 * Questions to a scheduler in another process. The scheduler polls: it posts answers and waits for the next questions.
 * So it needs no known address, and no other component needs credentials for it.
 *
 *     k8ts why ──► ask ─────┐                      ┌──► answer
 *     scheduler ──► listen ─┴──► asked ──► answer ─┘
 *
 * 1. A question waits only if a scheduler has polled recently, and not for long.
 * 2. A question is repeated to each poll until it is answered.
 */
import type { Clock } from "#base";

/** How long a poll waits without questions. */
export const LISTEN_MS = 20_000;
const ANSWER_MS = 2_000;
/** The maximum time between two polls. */
const AWAY_MS = 10_000;
const MAX_QUESTIONS = 100;

export type Attempts = readonly object[];

export class RemoteScheduler {
  readonly #clock: Clock;
  readonly #open = new Map<string, PromiseWithResolvers<Attempts>>();
  #listening: PromiseWithResolvers<void> | undefined;
  #leftMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Attempts for the Pod with this uid; empty without an answer. */
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

  /**
   * The open questions, or the next ones, or none after a while. Only one poll waits at a time: a later one replaces
   * it.
   */
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

  /** Ends all waits. */
  close(): void {
    this.#closed = true;
    this.#listening?.resolve();
    for (const { resolve } of this.#open.values()) resolve([]);
  }

  get #isThere(): boolean {
    return !this.#closed && (this.#listening !== undefined || this.#clock.monotonic() - this.#leftMs < AWAY_MS);
  }
}
