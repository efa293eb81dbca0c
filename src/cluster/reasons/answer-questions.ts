/** A standalone scheduler answers the API server's questions about its decisions: see `remote-scheduler.ts`. */
import { SCHEDULING_PATH } from "#apiserver";
import { type Clock, isAbort, type Logger } from "#base";
import type { Client } from "#client";
import { LISTEN_MS } from "./remote-scheduler.ts";
import type { Answered, SchedulingReasons } from "./scheduling-reasons.ts";

const PAUSE_MS = 5_000;
const TIMEOUT_MS = LISTEN_MS + 10_000;

export interface QuestionsOptions {
  readonly client: Client;
  readonly reasons: SchedulingReasons;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Runs until the signal aborts. An API server without this path, such as upstream's, is retried rarely. */
export async function answerQuestions(
  { client, reasons, clock, log }: QuestionsOptions,
  signal: AbortSignal,
): Promise<void> {
  let answers: readonly Answered[] = [];
  while (!signal.aborted) {
    try {
      const asked = JSON.parse(
        await client.post(SCHEDULING_PATH, answers, { signal, timeoutMs: TIMEOUT_MS }),
      ) as string[];
      answers = asked.map((uid) => ({ uid, attempts: reasons.of(uid) }));
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.debug("the API server does not ask for reasons", { error });
      answers = [];
      await clock.sleep(PAUSE_MS, signal).catch((stopped: unknown) => {
        if (!isAbort(stopped, signal)) throw stopped;
      });
    }
  }
}
