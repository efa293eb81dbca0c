/**
 * Records Events (events.k8s.io/v1) about objects.
 *
 * 1. A repeated event is one Event with a series: repetitions are counted and written together.
 * 2. Recording never fails and never waits: a failed write is logged. Each source has a token bucket for each object.
 */
import { type events, isStatusError, type KubeObject } from "#api";
import { type Clock, type Logger, LruMap, type Random } from "#base";
import type { ResourceClient } from "./requests/resource-client.ts";

type Event = events.Event;

export interface RecordedEvent {
  readonly about: KubeObject;
  readonly related?: KubeObject;
  readonly type: "Normal" | "Warning";
  /** The reason, in one word, such as SuccessfulCreate. */
  readonly reason: string;
  /** The action, in one word. Default: the reason. */
  readonly action?: string;
  readonly note: string;
}

export interface EventRecorder {
  record(event: RecordedEvent): void;
  /** Resolves when all recorded events have been written or given up. */
  flush(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly events: ResourceClient<Event>;
  /** Such as `deployment-controller`. */
  readonly controller: string;
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A series ends when its Event is not repeated within this time. */
const SERIES_MS = 6 * 60_000;
const BURST = 25;
const REFILL_MS = 300_000;
const MAX_NOTE = 1024;
/** The number of series, and of token buckets, that are kept. */
const MAX_REMEMBERED = 4096;

interface Series {
  event: Event;
  count: number;
  lastMs: number;
  writing: boolean;
}

export function eventRecorder(options: EventRecorderOptions): EventRecorder {
  const { clock, log } = options;
  const known = new LruMap<string, Series>(MAX_REMEMBERED);
  const budgets = new LruMap<string, { left: number; atMs: number }>(MAX_REMEMBERED);
  const running = new Set<Promise<void>>();

  const affordable = (uid: string): boolean => {
    const now = clock.monotonic();
    const budget = budgets.get(uid) ?? { left: BURST, atMs: now };
    const refilled = Math.min(BURST, budget.left + (now - budget.atMs) / REFILL_MS);
    budgets.set(uid, { left: Math.max(0, refilled - 1), atMs: now });
    return refilled >= 1;
  };
  const start = (work: Promise<void>) => {
    const task = work.catch((error: unknown) => log.warn("an event could not be recorded", { error }));
    running.add(task);
    void task.finally(() => running.delete(task));
  };

  return {
    record(recorded) {
      const key = keyOf(recorded);
      const series = known.get(key);
      if (series !== undefined && clock.monotonic() - series.lastMs < SERIES_MS) {
        series.count += 1;
        series.lastMs = clock.monotonic();
        if (!series.writing) start(writeSeries(series, options));
        return;
      }
      if (!affordable(recorded.about.metadata.uid ?? "")) return;
      const event = eventOf(recorded, options);
      const begun: Series = { event, count: 1, lastMs: clock.monotonic(), writing: true };
      known.set(key, begun);
      start(createFirst(begun, options));
    },
    async flush() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function createFirst(series: Series, options: EventRecorderOptions): Promise<void> {
  try {
    const { namespace = "default" } = series.event.metadata;
    series.event = await options.events.in(namespace).create(series.event);
  } catch (error) {
    series.lastMs = Number.NEGATIVE_INFINITY;
    throw error;
  } finally {
    series.writing = false;
  }
  if (series.count > 1) await writeSeries(series, options);
}

/** Written at the first repetition; later repetitions join a write that is pending. */
async function writeSeries(series: Series, { events, clock }: EventRecorderOptions): Promise<void> {
  series.writing = true;
  try {
    for (let written = 0; written < series.count; ) {
      written = series.count;
      const { name = "", namespace = "default" } = series.event.metadata;
      const object = { series: { count: written, lastObservedTime: timeOf(clock.now()) } };
      await events.in(namespace).patch(name, { type: "merge", object });
    }
  } catch (error) {
    // The Event has expired: the next repetition creates a new one.
    if (!isStatusError(error) || error.reason !== "NotFound") throw error;
    series.lastMs = Number.NEGATIVE_INFINITY;
  } finally {
    series.writing = false;
  }
}

function keyOf({ about, type, reason, action, note }: RecordedEvent): string {
  return [about.metadata.uid, type, reason, action, note].join("\0");
}

function eventOf(recorded: RecordedEvent, { controller, instance, clock, random }: EventRecorderOptions): Event {
  const { about, related, type, reason, action = reason, note } = recorded;
  const { name = "", namespace } = about.metadata;
  const suffix = `${clock.now().toString(16)}${random.integer(0x10000).toString(16).padStart(4, "0")}`;
  return {
    metadata: { name: `${name}.${suffix}`, namespace: namespace ?? "default" },
    eventTime: timeOf(clock.now()),
    reportingController: controller,
    reportingInstance: instance,
    action,
    reason,
    type,
    note: note.length > MAX_NOTE ? `${note.slice(0, MAX_NOTE - 4)} ...` : note,
    regarding: referenceTo(about),
    ...(related !== undefined && { related: referenceTo(related) }),
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
