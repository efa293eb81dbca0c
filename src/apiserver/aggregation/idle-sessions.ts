/**
 * The open HTTP/2 sessions, by address.
 *
 * 1. A session without room for another stream, or about to end, is not handed out: long watches must not block other
 *    requests.
 * 2. A session that is idle for 90 seconds is closed.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import type { Clock, Timer } from "#base";

const IDLE_MS = 90_000;
/** Go's servers allow 250; a server that states no limit has none. */
const MAX_STREAMS = 200;

interface Kept {
  readonly at: string;
  streams: number;
  idle: Timer | undefined;
}

export class IdleSessions {
  readonly #clock: Clock;
  readonly #kept = new Map<ClientHttp2Session, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(at: string): ClientHttp2Session | undefined {
    for (const [session, kept] of this.#kept) {
      const room = Math.min(MAX_STREAMS, session.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS);
      if (kept.at === at && !session.closed && !session.destroyed && kept.streams < room) return session;
    }
    return undefined;
  }

  add(at: string, session: ClientHttp2Session): void {
    const kept: Kept = { at, streams: 0, idle: undefined };
    this.#kept.set(session, kept);
    // Its streams fail with it and report that.
    session.on("error", () => {});
    session.once("goaway", () => this.#leave(session));
    session.once("close", () => this.#leave(session));
  }

  use(session: ClientHttp2Session, stream: ClientHttp2Stream): void {
    const kept = this.#kept.get(session);
    if (kept === undefined) return;
    kept.streams++;
    kept.idle?.cancel();
    kept.idle = undefined;
    stream.once("close", () => {
      kept.streams--;
      if (kept.streams > 0) return;
      if (this.#kept.has(session)) kept.idle = this.#clock.timer(IDLE_MS, () => session.close());
    });
  }

  close(): void {
    for (const session of [...this.#kept.keys()]) {
      this.#leave(session);
      session.destroy();
    }
  }

  #leave(session: ClientHttp2Session): void {
    const kept = this.#kept.get(session);
    kept?.idle?.cancel();
    this.#kept.delete(session);
    if (!session.closed && !session.destroyed) session.close();
  }
}
