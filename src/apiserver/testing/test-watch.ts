/** A watch as a test reads it: the events so far, and a reader that may also stop reading. */
import type { KubeObject } from "#api";
import { settled } from "#base";
import type { Handle } from "../http/exchange.ts";
import { isStream } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";
import { type RequestOptions, toRequest } from "./exchange.ts";

export interface TestWatchOptions extends RequestOptions {
  /** Takes nothing off the wire: what is written waits. */
  readonly stalled?: boolean;
}

export interface WatchLine {
  readonly type: string;
  /** A Status, if the type is ERROR. */
  readonly object: KubeObject & { readonly code?: number; readonly message?: string };
}

export interface TestWatch {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly bytes: Buffer;
  /** What has come so far; JSON only. */
  readonly events: readonly WatchLine[];
  /** How many times something was written. */
  readonly writes: number;
  readonly ended: boolean;
  /**
   * `TYPE name`, or `TYPE revision` for bookmarks and `TYPE code` for errors: once everything that is under way has
   * come.
   */
  seen(): Promise<readonly string[]>;
  /** The caller goes away. */
  close(): Promise<void>;
}

export async function openWatch(
  handle: Handle,
  path: string,
  admin: UserInfo,
  options: TestWatchOptions = {},
): Promise<TestWatch> {
  const gone = new AbortController();
  const response = await handle(toRequest("GET", path, admin, { ...options, signal: gone.signal }));
  if (!isStream(response)) throw new Error(`no watch but ${response.status}: ${Buffer.concat(response.body)}`);
  const chunks: Buffer[] = [];
  let waiting = 0;
  let ended = false;
  const sink = {
    signal: gone.signal,
    write: (bytes: Buffer) => {
      chunks.push(bytes);
      if (options.stalled === true) waiting += bytes.length;
      return waiting;
    },
    drop: () => gone.abort(),
  };
  const finished = response.stream(sink).then(() => {
    ended = true;
  });
  await settled();
  const watch: TestWatch = {
    headers: response.headers,
    get bytes() {
      return Buffer.concat(chunks);
    },
    get events() {
      return linesOf(chunks);
    },
    get writes() {
      return chunks.length;
    },
    get ended() {
      return ended;
    },
    seen: async () => {
      await settled();
      return watch.events.map(brief);
    },
    close: async () => {
      gone.abort();
      await finished;
    },
  };
  return watch;
}

function linesOf(chunks: readonly Buffer[]): readonly WatchLine[] {
  const lines = Buffer.concat(chunks).toString().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as WatchLine);
}

function brief({ type, object }: WatchLine): string {
  if (type === "ERROR") return `ERROR ${object.code}`;
  return `${type} ${type === "BOOKMARK" ? object.metadata.resourceVersion : object.metadata.name}`;
}
