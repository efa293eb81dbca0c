/**
 * The load generator, in a process of its own: does one job after the other and says how long each took.
 *
 *     benchmark ──► job ──► 32 connections ──► server          benchmark ◄── outcome
 */
import type { Connection, Target } from "./connection.ts";
import { openHttp1 } from "./http1-connection.ts";
import { Http2Connection } from "./http2-connection.ts";
import { Template } from "./template.ts";

export interface Job {
  readonly target: Target;
  readonly protocol: "http/1.1" | "h2";
  readonly connections: number;
  /** How many requests each connection has under way at a time; HTTP/2 only. Default: 1. */
  readonly streams?: number;
  /** How often, in all; `{i}` in the path and the body is the number of the request, from `first` on. */
  readonly requests: number;
  readonly first?: number;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly gzip?: boolean;
  readonly body?: string;
  /** Watches that are open meanwhile; the job ends when each of them has seen an event for each request. */
  readonly watchers?: { readonly count: number; readonly path: string };
  /**
   * Its connections stay open, and are those of the next job that keeps them and goes to the same port. Default: each
   * job opens its own.
   */
  readonly keep?: boolean;
  /**
   * It never sleeps: on a machine with few processors a server that has to wake it for an answer pays for that, and one
   * that is too fast for it never does.
   */
  readonly awake?: boolean;
}

export interface Outcome {
  readonly ms: number;
  /** Of the answers' bodies. */
  readonly bytes: number;
  readonly events: number;
  readonly error?: string;
}

const MAX_MS = 120_000;

// Whoever started it may end without a word.
process.once("disconnect", () => process.exit());
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

interface Kept {
  readonly key: string;
  readonly connections: readonly Connection[];
}
let kept: Kept | undefined;

async function run(job: Job): Promise<Outcome> {
  const broken = Promise.withResolvers<never>();
  // Awaited below, with the work: also while the connections are still being opened.
  broken.promise.catch(() => {});
  const open = (): Promise<Connection> =>
    job.protocol === "h2"
      ? Http2Connection.open(job.target, job.streams ?? 1, broken.reject)
      : openHttp1(job.target, broken.reject);
  const key = `${job.protocol} ${job.connections} ${job.streams} ${job.target.port}`;
  const isKept = job.keep === true && kept?.key === key;
  const opened = isKept ? kept?.connections : undefined;
  const connections = opened ?? (await Promise.all(Array.from({ length: job.connections }, open)));
  const watches = await openWatches(job, broken.reject);
  const spin = new AbortController();
  if (job.awake === true) stayAwake(spin.signal);
  try {
    const start = performance.now();
    const work = Promise.all([watches.seen, sendAll(job, connections)]);
    const [, bytes] = await Promise.race([work, broken.promise]);
    return { ms: performance.now() - start, bytes, events: watches.events() };
  } finally {
    spin.abort();
    if (job.keep === true) kept = { key, connections };
    for (const connection of [...(job.keep === true ? [] : connections), ...watches.connections]) connection.close();
  }
}

function stayAwake(signal: AbortSignal): void {
  setImmediate(() => {
    if (!signal.aborted) stayAwake(signal);
  });
}

/** Each connection sends the next request when one of its own was answered. Resolves to the length of all answers. */
function sendAll(job: Job, connections: readonly Connection[]): Promise<number> {
  const { method, contentType, gzip, requests, first = 0 } = job;
  const path = new Template(job.path);
  const body = job.body === undefined ? undefined : new Template(job.body);
  return new Promise((resolve) => {
    let [sent, answered, bytes] = [0, 0, 0];
    const send = (connection: Connection) => {
      if (sent === requests) return;
      const i = first + sent++;
      const how = { ...(contentType && { contentType }), ...(gzip && { gzip }) };
      const call = { method, path: path.at(i), ...how, ...(body && { body: body.at(i) }) };
      connection.send(call, (length) => {
        bytes += length;
        if (++answered === requests) resolve(bytes);
        else send(connection);
      });
    };
    for (const connection of connections) for (let i = 0; i < connection.width; i++) send(connection);
  });
}

/** Resolves when every watch is open. An event is a line. */
async function openWatches(job: Job, failed: (error: unknown) => void) {
  const { target, watchers, connections: width, requests } = job;
  if (watchers === undefined) return { connections: [], seen: Promise.resolve(), events: () => 0 };
  const connections: Http2Connection[] = [];
  for (let i = 0; i < width; i++) connections.push(await Http2Connection.open(target, 1, failed));
  const wanted = watchers.count * requests;
  const all = Promise.withResolvers<void>();
  let events = 0;
  const count = (bytes: Buffer) => {
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) events++;
    if (events >= wanted) all.resolve();
  };
  for (let i = 0; i < watchers.count; i++)
    connections[i % width]?.stream({ method: "GET", path: watchers.path }, count);
  // Answered behind them on the same connections: by then they are open.
  const opened = (connection: Http2Connection) =>
    new Promise((resolve) => connection.send({ method: "GET", path: "/version" }, resolve));
  await Promise.all(connections.map(opened));
  return { connections, seen: all.promise, events: () => events };
}
