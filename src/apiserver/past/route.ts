/** `GET /k8ts/history?at=WHEN`: the revision of a moment, and how far back times are known. */
import type { Clock } from "#base";
import type { Revision } from "#store";
import { asOf, type Past, timeOf } from "./past.ts";
import type { Mark } from "./timeline.ts";

export const HISTORY_PATH = "/k8ts/history";

/** Throws the error for the client. */
export function historyAnswer(query: URLSearchParams, past: Past, newest: Revision, clock: Clock): object {
  const at = query.get("at");
  const { timeline, windowMs } = past;
  const described = (mark: Mark | undefined) => mark && { revision: mark.revision, time: timeOf(mark.atMs) };
  const found = at === null ? undefined : asOf(at, past, newest, clock);
  return {
    ...(found !== undefined && {
      revision: found.revision,
      ...(found.atMs !== undefined && { time: timeOf(found.atMs) }),
    }),
    // Revisions before it may still be kept: their times are not known.
    timesSince: described(timeline.oldest),
    newest: { revision: newest, time: timeOf(clock.now()) },
    windowSeconds: windowMs / 1000,
  };
}
