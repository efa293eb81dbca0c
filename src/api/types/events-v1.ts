/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { EventSource, ObjectReference } from "./core-v1.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface Event {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly eventTime: string;
  readonly series?: EventSeries;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly note?: string;
  readonly type?: string;
  readonly deprecatedSource?: EventSource;
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedCount?: number;
}

export interface EventList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Event[];
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}
