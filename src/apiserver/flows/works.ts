/** Records of works: reported with a request (the header `k8ts-cause`), or as a list by `POST /k8ts/flows`. */
import { badRequest, StatusError } from "#api";
import type { Clock } from "#base";
import { actorOf, type Cause, type Recorder, readCause, type SpanName, vouchesFor } from "#flows";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import { ANONYMOUS } from "../identity/user.ts";

export interface WorksOptions {
  readonly recorder: Recorder;
  /** The current revision: a work cannot have been woken by a later one. */
  readonly revision: () => number;
  readonly clock: Clock;
}

const MAX_BODY_BYTES = 512 * 1024;

/** The client that reports a work. */
export interface Teller {
  readonly user: string;
  readonly userAgent: string;
  /** Its clock is another one. */
  readonly isForeign: boolean;
  /** The span of the work, if it is traced. */
  readonly span?: SpanName | undefined;
}

/** Records a work and returns its id. One that the client cannot vouch for is recorded as its own, and marked. */
export function recordWork(cause: Cause, teller: Teller, options: WorksOptions): string {
  const { recorder, revision, clock } = options;
  const newest = revision();
  const claimed = !vouchesFor(teller.user, cause.actor) || cause.woken.some((each) => each > newest);
  return recorder.work(teller.user, cause.id, {
    type: "work",
    at: cause.startedAt,
    actor: claimed ? actorOf(teller.user, teller.userAgent) : cause.actor,
    about: cause.about,
    ...(cause.resource !== undefined && { resource: cause.resource }),
    woken: cause.woken.filter((each) => each > 0 && each <= newest),
    ...(cause.read !== undefined && { read: cause.read }),
    tookMs: Math.max(0, clock.now() - cause.startedAt),
    decided: claimed ? `I am ${cause.actor}: ${cause.decided}` : cause.decided,
    calls: claimed ? [] : cause.calls,
    claimed,
    ...(claimed && { claimedBy: teller.user }),
    foreignClock: teller.isForeign,
    ...(teller.span !== undefined && { span: teller.span }),
  });
}

/** Only the component that does a work may report it without a request. */
export async function takeWorks(request: ApiRequest, options: WorksOptions): Promise<ApiResponse> {
  const { user = ANONYMOUS, remoteAddress } = request;
  const causes = parsed((await request.body(MAX_BODY_BYTES)).toString());
  for (const { actor } of causes) {
    if (!vouchesFor(user.name, actor))
      throw new StatusError("Forbidden", `${user.name} may not tell of the works of ${actor}`);
  }
  const teller = {
    user: user.name,
    userAgent: request.headers["user-agent"] ?? "",
    isForeign: remoteAddress !== undefined,
  };
  for (const cause of causes) recordWork(cause, teller, options);
  return { status: 204, headers: {}, body: [] };
}

function parsed(text: string): Cause[] {
  const words = "a list of works is expected, each as the header k8ts-cause has it";
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw badRequest(words);
  }
  if (!Array.isArray(read)) throw badRequest(words);
  return read.map((each: unknown) => {
    const cause = typeof each === "string" ? readCause(each) : undefined;
    if (cause === undefined) throw badRequest(words);
    return cause;
  });
}
