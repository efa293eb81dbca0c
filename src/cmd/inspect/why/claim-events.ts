/** Events of a claim as reasons. */
import type { core } from "#api";
import type { Reason } from "./answer.ts";

/** The last one with one of these reasons; none, or one. */
export function lastEvent(events: readonly core.Event[], ...reasons: readonly string[]): Reason[] {
  const found = events.findLast(({ reason = "" }) => reasons.includes(reason));
  return found === undefined ? [] : [eventReason(found)];
}

export function eventReason({ message = "", reason }: core.Event): Reason {
  return { text: message, evidence: `event ${reason}` };
}
