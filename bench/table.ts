/**
 * The table of docs/performance.md: processor time of the server for an operation, as clients of Go send them: one
 * connection of HTTP/2 with 32 requests under way, watchers by the fifty on a connection.
 *
 *     npm run bench -- table
 *     npm run bench -- table --original https://127.0.0.1:6443 --pki DIR --pids 12,34
 *
 * 1. Processor time is that of all threads of the server, of the original with its etcd (`--pids`): what the client and
 *    others do on the machine is no part of it. Requests in a second are said beside it.
 * 2. Rounds count one by one, and the best of them is reported: the first one has the compilation of the code in it,
 *    and is reported as well.
 * 3. DIR holds ca.crt, and admin.crt and admin.key of a user who may do everything.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newest } from "./apiserver/ask.ts";
import type { Target } from "./apiserver/connection.ts";
import type { Job } from "./apiserver/load.ts";
import { configMap, pod } from "./apiserver/objects.ts";
import { type Generator, startGenerator, startK8ts } from "./apiserver/processes.ts";
import type { Figure } from "./run.ts";

type Load = Omit<Job, "target" | "protocol" | "connections"> & { readonly connections?: number };

interface Row {
  readonly name: string;
  readonly rounds: number;
  load(round: number, revision: string): Load;
}

const NAMESPACE = "/api/v1/namespaces/default";
const JSON_TYPE = "application/json";
const MERGE_TYPE = "application/merge-patch+json";
const PODS = 3_000;
const WATCHERS_OF_A_CONNECTION = 50;

const ROWS: readonly Row[] = [
  { name: "create ConfigMap of 1 KiB", rounds: 3, load: (round) => creation("configmaps", configMap, 12_000, round) },
  { name: "create Pod", rounds: 3, load: (round) => creation("pods", pod, PODS / 3, round) },
  {
    name: "GET Pod",
    rounds: 3,
    load: () => ({ method: "GET", path: `${NAMESPACE}/pods/pod-7`, requests: 30_000, streams: 32 }),
  },
  { name: `LIST of ${PODS} Pods (gzip)`, rounds: 2, load: () => list("", 100) },
  { name: "LIST limit=500 (gzip)", rounds: 2, load: () => list("?limit=500", 400) },
  {
    name: "merge patch of a Pod",
    rounds: 3,
    load: (round) => ({
      ...{ method: "PATCH", path: `${NAMESPACE}/pods/pod-{i}`, contentType: MERGE_TYPE, streams: 32 },
      body: `{"metadata":{"annotations":{"k":"${round}-{i}"}}}`,
      requests: PODS,
    }),
  },
  { name: "watch, 200 watchers, a delivered event", rounds: 3, load: (round, since) => fanOut(200, 500, round, since) },
  {
    name: "watch, 1,000 watchers, a delivered event",
    rounds: 2,
    load: (round, since) => fanOut(1_000, 200, round, since),
  },
];

export async function run(report: (figure: Figure) => void): Promise<void> {
  const { values } = parseArgs({
    options: { original: { type: "string" }, pki: { type: "string" }, pids: { type: "string" } },
    allowPositionals: true,
  });
  const dir = mkdtempSync(join(tmpdir(), "bench-table-"));
  try {
    await using generator = startGenerator();
    const original = values.original === undefined ? undefined : await originalFigures(generator, values);
    await using server = await startK8ts(dir);
    const own = await figuresOf(generator, server.target, [server.pid]);
    for (const [i, { name, first, best }] of own.entries()) {
      const bound = original?.[i]?.best;
      const compared = bound === undefined ? {} : { bound, ratio: bound / best };
      report({ name, value: best, unit: "µs of cpu", ...compared });
      report({ name: `${name}, first round`, value: first, unit: "µs of cpu" });
    }
    report({ name: "resident afterwards", value: server.residentMb(), unit: "MB" });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Asked {
  readonly original?: string | undefined;
  readonly pki?: string | undefined;
  readonly pids?: string | undefined;
}

function originalFigures(generator: Generator, { original, pki, pids }: Asked): Promise<readonly Measured[]> {
  if (pki === undefined || pids === undefined) throw new Error("--original needs --pki DIR and --pids PID,PID");
  const pem = (name: string) => readFileSync(join(pki, name), "utf8");
  const { port } = new URL(original ?? "");
  const target = { port: Number(port), caPem: pem("ca.crt"), certPem: pem("admin.crt"), keyPem: pem("admin.key") };
  return figuresOf(generator, target, pids.split(",").map(Number));
}

interface Measured {
  readonly name: string;
  readonly first: number;
  readonly best: number;
}

async function figuresOf(generator: Generator, target: Target, pids: readonly number[]): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const { name, rounds, load } of ROWS) {
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const revision = await newest(target);
      const job = { target, protocol: "h2" as const, connections: 1, ...load(round, revision) };
      const before = cpuMicroseconds(pids);
      await generator.run(job);
      costs.push((cpuMicroseconds(pids) - before) / (job.requests * (job.watchers?.count ?? 1)));
    }
    measured.push({ name, first: costs[0] ?? 0, best: Math.min(...costs) });
  }
  return measured;
}

function creation(plural: string, body: string, requests: number, round: number): Load {
  const first = round * requests;
  return { method: "POST", path: `${NAMESPACE}/${plural}`, contentType: JSON_TYPE, body, first, requests, streams: 32 };
}

function list(query: string, requests: number): Load {
  return { method: "GET", path: `${NAMESPACE}/pods${query}`, requests, streams: 4, gzip: true };
}

function fanOut(count: number, requests: number, round: number, since: string): Load {
  const path = `${NAMESPACE}/configmaps?watch=true&resourceVersion=${since}`;
  return {
    ...creation("configmaps", configMap.replaceAll("config-", `seen-by-${count}-`), requests, round),
    connections: count / WATCHERS_OF_A_CONNECTION,
    streams: 2,
    watchers: { count, path },
  };
}

/** Of all threads. */
function cpuMicroseconds(pids: readonly number[]): number {
  let nanoseconds = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return nanoseconds / 1000;
}
