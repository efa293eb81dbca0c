/**
 * A watch as a loop over events.
 *
 * 1. An ERROR event ends the loop with the StatusError that it stands for, such as Expired.
 * 2. The loop ends by itself when the server ends the watch, and quietly when the signal aborts. Leaving it ends the watch.
 */
import { fromStatus, type JsonObject, type KubeObject, StatusError } from "#api";
import { isAbort } from "#base";
import type { BodyPart, DirectEvent } from "./transport.ts";

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Everything up to this resourceVersion has been told. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
const NEWLINE = 10;

export async function* watchEvents<T extends KubeObject>(
  body: AsyncIterable<BodyPart>,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  try {
    for await (const told of events(body)) yield eventOf<T>(told);
  } catch (error) {
    if (signal === undefined || !isAbort(error, signal)) throw error;
  }
}

function eventOf<T extends KubeObject>(told: DirectEvent): WatchEvent<T> {
  const { type, object } = told as { readonly type: string; readonly object: T };
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

/** What stands behind the last newline is the beginning of an event whose end never came. */
async function* events(body: AsyncIterable<BodyPart>): AsyncIterable<DirectEvent> {
  let rest: Buffer[] = [];
  for await (const bytes of body) {
    if (!(bytes instanceof Uint8Array)) {
      yield bytes;
      continue;
    }
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = chunk.subarray(from, end);
      const text = rest.length === 0 ? line.toString("utf8") : Buffer.concat([...rest, line]).toString("utf8");
      yield JSON.parse(text) as DirectEvent;
      rest = [];
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
}
