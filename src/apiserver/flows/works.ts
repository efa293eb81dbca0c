/** Works as records: told of with a request of theirs, or by themselves (`POST /k8ts/flows`: a list of what `k8ts-cause` would hold). */
import { badRequest, StatusError } from "#api";
import type { Clock } from "#base";
import { type Cause, type Recorder, readCause, vouchesFor } from "#flows";
import { ANONYMOUS } from "../authn/user.ts";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";

export interface WorksOptions {
  readonly recorder: Recorder;
  /** How far the store is: what somebody was woken by cannot be newer. */
  readonly revision: () => number;
  readonly clock: Clock;
}

const MAX_BODY_BYTES = 512 * 1024;

/** Records a work, marked where its words are not its teller's to say. */
export function recordWork(cause: Cause, user: string, isForeign: boolean, options: WorksOptions): void {
  const { recorder, revision, clock } = options;
  const newest = revision();
  recorder.work({
    type: "work",
    id: cause.id,
    at: cause.startedAt,
    actor: cause.actor,
    about: cause.about,
    woken: cause.woken.filter((each) => each > 0 && each <= newest),
    tookMs: Math.max(0, clock.now() - cause.startedAt),
    decided: cause.decided,
    calls: cause.calls,
    claimed: !vouchesFor(user, cause.actor) || cause.woken.some((each) => each > newest),
    foreignClock: isForeign,
  });
}

/** Only who does a work may tell of it without doing anything. */
export async function takeWorks(request: ApiRequest, options: WorksOptions): Promise<ApiResponse> {
  const { user = ANONYMOUS, remoteAddress } = request;
  const causes = parsed((await request.body(MAX_BODY_BYTES)).toString());
  for (const { actor } of causes) {
    if (!vouchesFor(user.name, actor))
      throw new StatusError("Forbidden", `${user.name} may not tell of the works of ${actor}`);
  }
  for (const cause of causes) recordWork(cause, user.name, remoteAddress !== undefined, options);
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
