/**
 * The API server as clients see it: `bin/k8ts up` on the durable store, with hardly a controller, asked over TLS by
 * another process.
 *
 * 1. A bound is measured in the same run by the same generator: a bare Node server that sends the same bytes, bare
 *    LMDB.
 * 2. Rounds of a figure and its bound take turns, so that a change in the machine's mood meets both; the best of each
 *    counts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { bodyOf, newest } from "./apiserver/ask.ts";
import type { Target } from "./apiserver/connection.ts";
import type { Job } from "./apiserver/load.ts";
import { configMap, pod } from "./apiserver/objects.ts";
import { type Generator, type K8ts, startBare, startGenerator, startK8ts } from "./apiserver/processes.ts";
import type { Figure } from "./run.ts";

type Report = (figure: Figure) => void;

const CLIENTS = 32;
const ROUNDS = 3;
/** Of writes: the compiler takes some fifty thousand of them to settle. */
const WRITE_ROUNDS = 8;
const PODS = 3_000;
/** Of one round of writes: enough for the compiler to have settled. */
const WRITES = 10_000;
const MANY = 100_000;
const NAMESPACE = "/api/v1/namespaces/default";
/** A connection for each of the clients, or one for all of them. */
const CLIENT_SHAPES: Readonly<Record<string, Pick<Job, "protocol" | "connections" | "streams">>> = {
  "HTTP/1.1": { protocol: "http/1.1", connections: CLIENTS },
  "HTTP/2": { protocol: "h2", connections: 1, streams: CLIENTS },
};
const JSON_TYPE = "application/json";

export async function run(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-apiserver-"));
  try {
    await using generator = startGenerator();
    {
      await using server = await startK8ts(dir);
      report({ name: "ready, fresh data directory", value: server.readyMs, unit: "ms" });
      report({ name: "resident when ready", value: server.residentMb(), unit: "MB" });
      await writes(report, server.target, generator, dir);
      await reads(report, server.target, generator, dir);
      for (const watchers of [200, 1000]) await fanOut(report, server.target, generator, watchers);
    }
    await besideControllers(report, generator, dir);
    await many(report, generator, join(dir, "many"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Creates and patches against bare LMDB with as many writers. */
async function writes(report: Report, target: Target, generator: Generator, dir: string): Promise<void> {
  const work: { name: string; job(round: number): Written }[] = [
    { name: "create ConfigMap", job: (round) => creation("configmaps", configMap, round) },
    { name: "create Pod", job: (round) => creation("pods", pod, round) },
    { name: "merge patch", job: (round) => ({ ...patch, body: `{"data":{"mode":"changed-${round}-{i}"}}` }) },
  ];
  for (const { name, job } of work) {
    for (const [nth, [clients, how]] of Object.entries(CLIENT_SHAPES).entries()) {
      const { value, bound } = await best(
        (round) => rate(generator, { target, ...how, ...job(nth * WRITE_ROUNDS + round) }),
        (round) => barePuts(join(dir, `bare-${name}-${nth}-${round}`)),
        WRITE_ROUNDS,
      );
      report({ name: `${name} (${clients}), to bare LMDB`, value, unit: "requests/s", bound, ratio: value / bound });
    }
  }
}

/** What `up` runs beside the API server shares its thread. */
async function besideControllers(report: Report, generator: Generator, dir: string): Promise<void> {
  await using server = await startK8ts(join(dir, "control-plane"), "control plane");
  const { target } = server;
  const one = (round: number) => rate(generator, { ...jobFor(target), ...creation("configmaps", configMap, round) });
  const { value } = await best(one, async () => 0, WRITE_ROUNDS);
  report({ name: "create ConfigMap beside all controllers", value, unit: "requests/s" });
}

type Written = Pick<Job, "method" | "path" | "contentType" | "body" | "first" | "requests">;

const patch: Omit<Written, "body"> = {
  method: "PATCH",
  path: `${NAMESPACE}/configmaps/config-{i}`,
  contentType: "application/merge-patch+json",
  requests: WRITES,
};

function creation(plural: string, body: string, round: number): Written {
  const first = round * WRITES;
  return { method: "POST", path: `${NAMESPACE}/${plural}`, contentType: JSON_TYPE, body, first, requests: WRITES };
}

async function barePuts(dir: string): Promise<number> {
  const database = open<Buffer, string>(dir, { encoding: "binary", overlappingSync: false });
  const value = Buffer.alloc(1024, "0123456789abcdef");
  const count = 15_000;
  let next = 0;
  const start = performance.now();
  const lane = async () => {
    while (next < count)
      await database.put(`/registry/core/configmaps/default/name-${(next++ * 7919) % 1_000_003}`, value);
  };
  await Promise.all(Array.from({ length: CLIENTS }, lane));
  const perSecond = (count * 1000) / (performance.now() - start);
  await database.close();
  return perSecond;
}

/** The namespace holds many more pods by now; lists ask for PODS of them. */
async function reads(report: Report, target: Target, generator: Generator, dir: string): Promise<void> {
  const asked = [
    { name: "GET Pod", path: `${NAMESPACE}/pods/pod-7`, requests: 30_000 },
    { name: `LIST ${PODS.toLocaleString("en")} Pods`, path: `${NAMESPACE}/pods?limit=${PODS}`, requests: 150 },
  ];
  for (const { name, path, requests } of asked) {
    const body = await bodyOf(target, path);
    for (const protocol of ["h2", "http/1.1"] as const) {
      await using bare = await startBare(dir, protocol, body);
      const job = { protocol, method: "GET", path, requests };
      const { value, bound } = await best(
        () => rate(generator, { ...jobFor(target), ...job }),
        () => rate(generator, { ...jobFor(bare.target), ...job }),
      );
      report({
        name: `${name} (${protocol}), to a bare server`,
        value,
        unit: "requests/s",
        bound,
        ratio: value / bound,
      });
    }
  }
}

async function fanOut(report: Report, target: Target, generator: Generator, count: number): Promise<void> {
  const requests = Math.ceil(200_000 / count);
  let value = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { ms, events } = await generator.run({
      ...jobFor(target),
      method: "PATCH",
      path: `${NAMESPACE}/configmaps/config-{i}`,
      contentType: "application/merge-patch+json",
      body: `{"data":{"mode":"seen-by-${count}-${round}"}}`,
      requests,
      watchers: { count, path: `${NAMESPACE}/configmaps?watch=true&resourceVersion=${await newest(target)}` },
    });
    value = Math.max(value, (events * 1000) / ms);
  }
  report({ name: `watch fan-out, ${count.toLocaleString("en")} watchers`, value, unit: "events/s" });
}

/** A cluster that has grown. */
async function many(report: Report, generator: Generator, dir: string): Promise<void> {
  const size = MANY.toLocaleString("en");
  {
    await using server = await startK8ts(dir);
    await rate(generator, {
      ...jobFor(server.target),
      method: "POST",
      path: `${NAMESPACE}/configmaps`,
      contentType: JSON_TYPE,
      body: configMap.replaceAll("config-", "many-"),
      requests: MANY,
    });
    report({ name: `resident after writing ${size} objects`, value: server.residentMb(), unit: "MB" });
  }
  await using server = await startK8ts(dir);
  report({ name: `ready with ${size} objects`, value: server.readyMs, unit: "ms" });
  report({ name: `resident with ${size} objects`, value: server.residentMb(), unit: "MB" });
  await large(report, server, generator);
}

async function large(report: Report, { target }: K8ts, generator: Generator): Promise<void> {
  const page = await rate(generator, {
    ...jobFor(target),
    method: "GET",
    path: `${NAMESPACE}/configmaps?limit=500`,
    requests: 600,
  });
  report({ name: "LIST with limit=500 of them", value: page, unit: "requests/s" });
  const since = await newest(target);
  const changes = 5_000;
  await rate(generator, {
    ...jobFor(target),
    method: "PATCH",
    path: `${NAMESPACE}/configmaps/many-{i}`,
    contentType: "application/merge-patch+json",
    body: '{"data":{"mode":"resumed"}}',
    requests: changes,
  });
  const watchers = { count: 20, path: `${NAMESPACE}/configmaps?watch=true&resourceVersion=${since}` };
  const { ms, events } = await generator.run({
    ...jobFor(target),
    method: "GET",
    path: "/version",
    requests: changes,
    watchers,
  });
  report({
    name: `watch resumed ${changes.toLocaleString("en")} changes ago, 20 watchers`,
    value: (events * 1000) / ms,
    unit: "events/s",
  });
}

function jobFor(target: Target): Pick<Job, "target" | "protocol" | "connections"> {
  return { target, protocol: "h2", connections: CLIENTS };
}

async function rate(generator: Generator, job: Job): Promise<number> {
  return (job.requests * 1000) / (await generator.run(job)).ms;
}

/** The highest rates of both. */
async function best(
  subject: (round: number) => Promise<number>,
  bare: (round: number) => Promise<number>,
  rounds = ROUNDS,
): Promise<{ value: number; bound: number }> {
  let [value, bound] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    bound = Math.max(bound, await bare(round));
    value = Math.max(value, await subject(round));
  }
  return { value, bound };
}
