/**
 * Why Pods are where they are, for those who ask: `GET /k8ts/scheduling?uid=…`, of the API server or of a scheduler that runs alone. Light: the scheduler
 * itself is loaded later.
 *
 * Who may ask and who may answer is for authorization to say: a scheduler may answer.
 */
import { badRequest, serverResponse } from "#api";
import type { ApiServerOptions } from "#apiserver";
import type { Clock } from "#base";
import type { Explanations } from "#scheduler";
import { type Attempts, DistantScheduler } from "./remote-scheduler.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const JSON_ANSWER = { "content-type": "application/json" };

type Answer = NonNullable<ApiServerOptions["others"]>[string];

/** What a scheduler posts: what it was asked, answered. */
export interface Answered {
  readonly uid: string;
  readonly attempts: Attempts;
}

/** Those of the scheduler in this process. */
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

/** What the API server answers: from this process, or from a scheduler elsewhere that posts its answers here and is told what is asked. */
export class SchedulingAnswers implements Disposable {
  readonly #own: SchedulingReasons;
  readonly #distant: DistantScheduler;

  constructor(own: SchedulingReasons, clock: Clock) {
    this.#own = own;
    this.#distant = new DistantScheduler(clock);
  }

  readonly answer: Answer = async (request) => {
    const { method, query } = request;
    if (method === "GET") {
      const uid = query.get("uid") ?? "";
      const own = this.#own.of(uid);
      const attempts = own.length > 0 ? own : await this.#distant.ask(uid);
      return { status: 200, headers: JSON_ANSWER, body: [Buffer.from(JSON.stringify(attempts))] };
    }
    if (method !== "POST") throw serverResponse(405);
    for (const { uid, attempts } of answersIn((await request.body(MAX_BODY_BYTES)).toString()))
      this.#distant.answer(uid, attempts);
    // A stream: what only waits takes no seat from others.
    return {
      status: 200,
      headers: JSON_ANSWER,
      stream: async (sink) => {
        const asked = await this.#distant.listen(sink.signal);
        sink.write(Buffer.from(JSON.stringify(asked)));
      },
    };
  };

  [Symbol.dispose](): void {
    this.#distant.close();
  }
}

function answersIn(text: string): readonly Answered[] {
  const words = "a list of answers is expected, each with the uid of a Pod and attempts";
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw badRequest(words);
  }
  if (!Array.isArray(read) || !read.every(isAnswered)) throw badRequest(words);
  return read;
}

function isAnswered(value: unknown): value is Answered {
  if (typeof value !== "object" || value === null) return false;
  const { uid, attempts } = value as Record<keyof Answered, unknown>;
  return typeof uid === "string" && Array.isArray(attempts);
}
