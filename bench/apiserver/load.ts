/**
 * The load generator, in a process of its own: does one job after the other and says how long each took.
 *
 *     benchmark ──► job ──► 32 connections ──► server          benchmark ◄── outcome
 */
import type { Connection, Target } from "./connection.ts";
import { openHttp1 } from "./http1-connection.ts";
import { type Http2Connection, openHttp2 } from "./http2-connection.ts";

export interface Job {
  readonly target: Target;
  readonly protocol: "http/1.1" | "h2";
  readonly connections: number;
  /** How often, in all; `{i}` in the path and the body is the number of the request, from `first` on. */
  readonly requests: number;
  readonly first?: number;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Watches that are open meanwhile; the job ends when each of them has seen an event for each request. */
  readonly watchers?: { readonly count: number; readonly path: string };
}

export interface Outcome {
  readonly ms: number;
  /** Of the answers' bodies. */
  readonly bytes: number;
  readonly events: number;
  readonly error?: string;
}

const MAX_MS = 120_000;

process.on("message", (job: Job) => {
  const tooLong = setTimeout(() => reply({ ms: 0, bytes: 0, events: 0, error: "the job took too long" }), MAX_MS);
  run(job)
    .catch((error: unknown): Outcome => ({ ms: 0, bytes: 0, events: 0, error: String(error) }))
    .then((outcome) => {
      clearTimeout(tooLong);
      reply(outcome);
    })
    .catch(() => process.exit(1));
});

function reply(outcome: Outcome): void {
  process.send?.(outcome);
}

async function run(job: Job): Promise<Outcome> {
  const open: (target: Target) => Promise<Connection> = job.protocol === "h2" ? openHttp2 : openHttp1;
  const connections = await Promise.all(Array.from({ length: job.connections }, () => open(job.target)));
  const watches = await openWatches(job);
  try {
    let next = 0;
    let bytes = 0;
    const start = performance.now();
    const lane = async (connection: Connection) => {
      while (next < job.requests) bytes += await connection.send(callOf(job, next++ + (job.first ?? 0)));
    };
    await Promise.all([watches.seen, ...connections.map(lane)]);
    return { ms: performance.now() - start, bytes, events: watches.events() };
  } finally {
    for (const connection of [...connections, ...watches.connections]) connection.close();
  }
}

function callOf({ method, path, contentType, body }: Job, i: number) {
  const numbered = (text: string) => text.replaceAll("{i}", String(i));
  return {
    method,
    path: numbered(path),
    ...(contentType !== undefined && { contentType }),
    ...(body !== undefined && { body: numbered(body) }),
  };
}

/** Resolves when every watch is open. An event is a line. */
async function openWatches({ target, watchers, connections: width, requests }: Job) {
  if (watchers === undefined) return { connections: [], seen: Promise.resolve(), events: () => 0 };
  const connections: Http2Connection[] = [];
  for (let i = 0; i < width; i++) connections.push(await openHttp2(target));
  const wanted = watchers.count * requests;
  const all = Promise.withResolvers<void>();
  let events = 0;
  for (let i = 0; i < watchers.count; i++) {
    const count = (bytes: Buffer) => {
      for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) events++;
      if (events >= wanted) all.resolve();
    };
    connections[i % width]?.stream({ method: "GET", path: watchers.path }, count, all.reject);
  }
  // Answered behind them on the same connections: by then they are open.
  await Promise.all(connections.map((connection) => connection.send({ method: "GET", path: "/version" })));
  return { connections, seen: all.promise, events: () => events };
}
