/**
 * A watch as a loop over events.
 *
 * 1. An ERROR event ends the loop with the StatusError that it stands for, such as Expired.
 * 2. The loop ends when the server ends the watch, and without an error when the signal aborts. Leaving the loop ends
 *    the watch.
 */
import { fromStatus, type JsonObject, type KubeObject, parseJson, StatusError } from "#api";
import { isAbort } from "#base";
import type { BodyPart, DirectEvent } from "../transport/transport.ts";

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** All changes up to this resourceVersion have been delivered. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
const NEWLINE = 10;

/** A watch that has begun; disposing of it detaches it from its signal. */
export interface WatchStream extends Disposable {
  readonly body: AsyncIterable<BodyPart>;
}

export interface WatchForm {
  readonly signal?: AbortSignal | undefined;
  /** Drops managedFields of objects that are read from bytes. */
  readonly omitManagedFields?: boolean | undefined;
}

/** The only generator on the way of an event: each further one costs every event 0.2 µs (see in-process.ts). */
export async function* watchEvents<T extends KubeObject>(
  begin: () => Promise<WatchStream>,
  { signal, omitManagedFields = false }: WatchForm,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  try {
    using stream = await begin();
    const lines = new Lines();
    for await (const part of stream.body) {
      if (!(part instanceof Uint8Array)) {
        yield eventOf<T>(part);
        continue;
      }
      for (const line of lines.of(part)) {
        const event = parseJson(line) as unknown as ParsedEvent;
        if (omitManagedFields) delete event.object.metadata?.managedFields;
        yield eventOf<T>(event);
      }
    }
  } catch (error) {
    if (signal === undefined || !isAbort(error, signal)) throw error;
  }
}

/** Parsed from bytes: not shared with anybody. */
interface ParsedEvent extends DirectEvent {
  readonly object: { readonly metadata?: { managedFields?: unknown } };
}

function eventOf<T extends KubeObject>(event: DirectEvent): WatchEvent<T> {
  const { type, object } = event as { readonly type: string; readonly object: T };
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object };
    case "BOOKMARK": {
      const { resourceVersion = "", annotations = {} } = object.metadata;
      return { type, resourceVersion, initialEventsEnd: annotations[INITIAL_EVENTS_END] === "true" };
    }
    case "ERROR":
      throw fromStatus(object as unknown as JsonObject);
    default:
      throw new StatusError("InternalError", `the server sent a watch event of an unknown type: ${type}`);
  }
}

/** What follows the last newline is an incomplete event. */
class Lines {
  #rest: Buffer[] = [];

  *of(bytes: Uint8Array): Iterable<string> {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = chunk.subarray(from, end);
      const whole = this.#rest.length === 0 ? line : Buffer.concat([...this.#rest, line]);
      this.#rest = [];
      from = end + 1;
      yield whole.toString("utf8");
    }
    if (from < chunk.length) this.#rest.push(chunk.subarray(from));
  }
}
