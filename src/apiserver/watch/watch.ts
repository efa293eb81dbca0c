/**
 * watch: the initial state if requested, then every event, until the timeout, the end of the client, or that of the
 * server.
 *
 * 1. Events of one turn are sent together; with `k8ts-gather` (milliseconds), those of a longer time. A client that
 *    stops reading is dropped before its queue holds much memory.
 * 2. Events keep their order, also those whose objects have to be converted first.
 * 3. A resourceVersion that is too old is answered by 200 and one ERROR event with the code 410, as clients expect.
 * 4. When the server stops, a client that takes bookmarks gets a last one: it goes on from there on another server, or
 *    on this one after its restart, although its objects may not have changed for long.
 */
import { expired, notAcceptable } from "#api";
import type { Timer } from "#base";
import type { Revision } from "#store";
import { matcher, type Selection } from "../cache/selection.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { WatchEvent } from "../cache/watch-event.ts";
import type { AnswerContext } from "../encode/answers.ts";
import { type FrameEncoder, frameEncoder, type WatchForm, type WatchValue } from "../encode/frames.ts";
import type { Sink, StreamResponse } from "../http/exchange.ts";
import type { RestSamples, ScopeLabel } from "../rest/metrics.ts";
import { readableSince } from "../rest/read/former-namespaces.ts";
import { fresh, notOlderThan } from "../rest/read/fresh.ts";
import { watchOptions } from "../rest/read/list-options.ts";
import { selectionOf } from "../rest/read/selection.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { InTurn } from "./in-turn.ts";
import type { WatchDrain } from "./watch-drain.ts";

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_WAITING_EVENTS = 100_000;
const MIN_TIMEOUT_SECONDS = 1800;
/** The longest delay that a timer of Node takes: what is longer has no end. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const BOOKMARK_MS = 60_000;
const GATHER = "k8ts-gather";
const MAX_GATHER_MS = 1_000;

export interface WatchSettings {
  /** Ends watches. */
  readonly stopping: AbortSignal;
  /** Ends watches one after the other while the server shuts down. */
  readonly drain?: WatchDrain | undefined;
  /**
   * A watch that names no timeout ends at a random time between once and twice this one. Default: half an hour. 0: it
   * does not end.
   */
  readonly minTimeoutSeconds?: number | undefined;
}

export async function watch(
  request: RestRequest,
  answer: AnswerContext,
  { stopping, drain, minTimeoutSeconds = MIN_TIMEOUT_SECONDS }: WatchSettings,
): Promise<StreamResponse> {
  const { context, resource, query } = request;
  const { restMetrics: metrics } = context;
  const samples = metrics?.of(resource);
  const startMs = metrics?.now() ?? 0;
  const options = watchOptions(query, request.context.features);
  const selection = selectionOf(request);
  if (answer.format.type === "application/yaml")
    throw notAcceptable(["application/json", "application/vnd.kubernetes.protobuf"]);
  const encoder = frameEncoder(answer, context.clock);
  const from = options.resourceVersion ?? 0;
  const withState = options.sendInitialEvents ?? from === 0;
  if (options.resourceVersion === undefined) await fresh(context);
  else if (withState) await notOlderThan(context, from);
  const oldest = withState ? undefined : await readableSince(request, selection, from);
  const gatherMs = Math.min(MAX_GATHER_MS, Number(query.get(GATHER) ?? 0)) || 0;
  const timeoutMs = (options.timeoutSeconds || minTimeoutSeconds * (1 + context.random.next())) * 1000;

  return {
    status: 200,
    headers: { "content-type": encoder.contentType },
    stream: (sink) =>
      new Promise<void>((resolve) => {
        const matches = matcher(selection);
        const { forms } = resource;
        const overflow = () => {
          sink.drop();
          end();
        };
        const out = outlet(
          sink,
          encoder,
          overflow,
          gatherMs > 0 ? (fire) => context.clock.timer(gatherMs, fire) : undefined,
          samples,
        );
        const note = context.deliveries?.(request.user.name, request.userAgent ?? "");
        const tell = (event: WatchEvent) => {
          note?.(resource, event.type, event.stored.key, event.stored.revision);
          out.event(event);
        };
        const after = withState || from === 0 ? context.feed.revision : from;
        const stops: (() => void)[] = [];
        let ended = false;
        const end = () => {
          ended = true;
          for (const stop of stops.splice(0)) stop();
          out.flush();
          resolve();
        };
        const handOver = () => {
          const { revision } = context.feed;
          // Behind events that still wait for their conversion it would skip them: `end` drops both.
          if (options.allowBookmarks && revision >= after) inTurn.run([], () => out.bookmark(revision, false));
          end();
        };
        const fail = () => {
          out.error(expired(`too old resource version: ${after} (${oldest ?? resource.cache.oldest})`));
          end();
        };
        if (oldest !== undefined) return fail();
        const inTurn = new InTurn(forms, (error) => {
          out.error(error);
          end();
        });
        stops.push(() => inTurn.end());
        if (withState) {
          const found = [...currentObjects(request, selection)];
          resource.cache.counts.initEvents += found.length;
          inTurn.run(found, (own) => {
            for (const stored of found.map(own)) {
              if (matches(stored)) out.event(new WatchEvent("ADDED", stored));
            }
            if (!options.sendInitialEvents || !options.allowBookmarks) return;
            out.bookmark(after, true);
            samples?.watchListed(scopeOf(selection), (metrics?.now() ?? 0) - startMs);
          });
        }
        const ends = { expired: () => fail(), ended: () => end() };
        const stop =
          forms === undefined
            ? resource.cache.watch(selection, after, { event: tell, ...ends })
            : resource.cache.watchChanges(selection, after, {
                change: (change) =>
                  inTurn.run(change.objects, (own) => {
                    const seen = change.inForm(forms, own).seenBy(matches);
                    if (seen !== undefined) tell(seen);
                  }),
                ...ends,
              });
        if (stop === undefined) return fail();
        stops.push(stop);
        if (timeoutMs !== 0 && timeoutMs <= MAX_TIMER_MS) {
          const timer = context.clock.timer(timeoutMs, end);
          stops.push(() => timer.cancel());
        }
        if (drain !== undefined) stops.push(drain.add(handOver));
        if (ended) return;
        for (const [signal, leave] of [[sink.signal, end] as const, [stopping, handOver] as const]) {
          if (signal.aborted) return leave();
          signal.addEventListener("abort", leave, { once: true });
          stops.push(() => signal.removeEventListener("abort", leave));
        }
        if (options.allowBookmarks) {
          stops.push(bookmarks(request, after, (revision) => inTurn.run([], () => out.bookmark(revision, false))));
        }
      }),
  };
}

/** All objects of the namespace or name, whether or not the selectors match. */
function* currentObjects({ resource }: RestRequest, { namespace, name, exactly }: Selection): Generator<StoredObject> {
  const scope = namespace === undefined ? "" : `${namespace}/`;
  if (name !== undefined) {
    const one = resource.cache.get(scope + name);
    if (one !== undefined) yield one;
    return;
  }
  if (exactly !== undefined) return yield* resource.cache.withValue(exactly);
  const range = scope === "" ? {} : { from: scope, before: `${namespace}0` };
  yield* resource.cache.snapshot().values(range);
}

function scopeOf({ namespace, name }: Selection): ScopeLabel {
  if (name !== undefined) return "resource";
  return namespace === undefined ? "cluster" : "namespace";
}

function bookmarks({ context }: RestRequest, after: Revision, send: (revision: Revision) => void): () => void {
  const tick = () => {
    const { revision } = context.feed;
    // A watch that starts at a later revision gets no earlier bookmark.
    if (revision >= after) send(revision);
    timer = context.clock.timer(BOOKMARK_MS, tick);
  };
  let timer = context.clock.timer(BOOKMARK_MS, tick);
  return () => timer.cancel();
}

interface Outlet extends WatchForm<void> {
  flush(): void;
}

/** Sends values to a watcher in this process, bytes to others. */
function outlet(
  sink: Sink,
  encoder: FrameEncoder,
  overflow: () => void,
  later: Later | undefined,
  samples: RestSamples | undefined,
): Outlet {
  const { values } = encoder;
  if (sink.event === undefined || values === undefined) {
    const batch = new Batch(sink, overflow, later);
    return {
      event: (event) => {
        const frame = encoder.event(event);
        samples?.events.inc();
        samples?.eventBytes.observe(frame.length);
        batch.push(frame);
      },
      bookmark: (revision, end) => batch.push(encoder.bookmark(revision, end)),
      error: (error) => batch.push(encoder.error(error)),
      flush: () => batch.flush(),
    };
  }
  let bound: number | undefined;
  const send = ({ type, object }: WatchValue) => {
    const waiting = sink.event?.(type, object) ?? 0;
    if (bound !== undefined && waiting > bound) overflow();
    return waiting;
  };
  return {
    event: (event) => {
      samples?.events.inc();
      send(values.event(event));
    },
    bookmark: (revision, end) => {
      const waiting = send(values.bookmark(revision, end));
      // As with bytes: the initial state does not count.
      bound ??= MAX_WAITING_EVENTS + waiting;
    },
    error: (error) => void send(values.error(error)),
    flush: () => {},
  };
}

/** Calls once, after a delay. */
type Later = (fire: () => void) => Timer;

/** Collects the frames of one turn, or of a longer time, into one write. The initial state is not delayed. */
class Batch {
  readonly #sink: Sink;
  readonly #overflow: () => void;
  readonly #later: Later | undefined;
  #frames: Buffer[] = [];
  #scheduled = false;
  #timer: Timer | undefined;
  /** The initial state does not count, whatever its size: no client could have read it before it is written. */
  #bound: number | undefined;

  constructor(sink: Sink, overflow: () => void, later: Later | undefined) {
    this.#sink = sink;
    this.#overflow = overflow;
    this.#later = later;
  }

  push(frame: Buffer): void {
    this.#frames.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (this.#later === undefined || this.#bound === undefined) queueMicrotask(() => this.flush());
    else this.#timer = this.#later(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    this.#timer?.cancel();
    this.#timer = undefined;
    const frames = this.#frames;
    if (frames.length === 0) return;
    this.#frames = [];
    const [first, second] = frames;
    const waiting =
      first !== undefined && second === undefined
        ? this.#sink.write(first)
        : (this.#sink.writeParts?.(frames) ?? this.#sink.write(Buffer.concat(frames)));
    this.#bound ??= frames.reduce((sum, frame) => sum + frame.length, MAX_WAITING_BYTES);
    if (waiting > this.#bound) this.#overflow();
  }
}
