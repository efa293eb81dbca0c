/** From its start on, a server knows which revision was current at which time. */
import type { Clock } from "#base";
import type { Recorder } from "#flows";
import type { StoreFeed } from "../cache/feed.ts";
import { type Past, Timeline } from "../past/index.ts";

export function followPast(feed: StoreFeed, clock: Clock, windowMs: number, recorder?: Recorder): Past {
  const timeline = new Timeline(windowMs);
  // Records of before a restart have the times of their revisions.
  for (const record of recorder?.records() ?? [])
    if (record.type === "request" && record.written !== undefined)
      timeline.note(record.written.revision, record.written.at);
  timeline.note(feed.revision, clock.now());
  feed.advanced = (revision) => timeline.note(revision, clock.now());
  return { timeline, windowMs };
}
