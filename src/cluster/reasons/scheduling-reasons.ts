/**
 * The reasons of scheduling decisions: `GET /k8ts/scheduling?uid=…`, served by the API server and by standalone
 * schedulers. Does not load the scheduler itself.
 *
 * Access is subject to authorization: schedulers may post answers.
 */
import { badRequest, serverResponse } from "#api";
import type { ApiServerOptions } from "#apiserver";
import type { Clock } from "#base";
import type { Explanations } from "#scheduler";
import { type Attempts, RemoteScheduler } from "./remote-scheduler.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const JSON_ANSWER = { "content-type": "application/json" };

type Answer = NonNullable<ApiServerOptions["others"]>[string];

/** An answer that a scheduler posts. */
export interface Answered {
  readonly uid: string;
  readonly attempts: Attempts;
}

/** The reasons of the scheduler in this process. */
export class SchedulingReasons {
  #explanations: Explanations | undefined;

  use(explanations: Explanations): void {
    this.#explanations = explanations;
  }

  /** Attempts for the Pod with this uid, the oldest first; none until a scheduler runs here. */
  of(uid: string): Attempts {
    return (this.#explanations?.of(uid) ?? []).map(({ rejections, verdictOn: _, ...rest }) => ({
      ...rest,
      rejections: rejections.map(({ rejection: { plugin, reasons }, nodes }) => ({ plugin, reasons, nodes })),
    }));
  }
}

/** The API server's answers: from the scheduler in this process, or from a remote one. */
export class SchedulingAnswers implements Disposable {
  readonly #own: SchedulingReasons;
  readonly #remote: RemoteScheduler;

  constructor(own: SchedulingReasons, clock: Clock) {
    this.#own = own;
    this.#remote = new RemoteScheduler(clock);
  }

  readonly answer: Answer = async (request) => {
    const { method, query } = request;
    if (method === "GET") {
      const uid = query.get("uid") ?? "";
      const own = this.#own.of(uid);
      const attempts = own.length > 0 ? own : await this.#remote.ask(uid);
      return { status: 200, headers: JSON_ANSWER, body: [Buffer.from(JSON.stringify(attempts))] };
    }
    if (method !== "POST") throw serverResponse(405);
    for (const { uid, attempts } of answersIn((await request.body(MAX_BODY_BYTES)).toString()))
      this.#remote.answer(uid, attempts);
    // A stream: a waiting poll occupies no seat of priority and fairness.
    return {
      status: 200,
      headers: JSON_ANSWER,
      stream: async (sink) => {
        const asked = await this.#remote.listen(sink.signal);
        sink.write(Buffer.from(JSON.stringify(asked)));
      },
    };
  };

  [Symbol.dispose](): void {
    this.#remote.close();
  }
}

function answersIn(text: string): readonly Answered[] {
  const problem = "expected a list of answers, each with the uid of a Pod and attempts";
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw badRequest(problem);
  }
  if (!Array.isArray(read) || !read.every(isAnswered)) throw badRequest(problem);
  return read;
}

function isAnswered(value: unknown): value is Answered {
  if (typeof value !== "object" || value === null) return false;
  const { uid, attempts } = value as Record<keyof Answered, unknown>;
  return typeof uid === "string" && Array.isArray(attempts);
}
