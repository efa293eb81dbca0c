/**
 * Kinds that users define, against those that are built in: `bin/k8ts up` on the durable store, asked over TLS by
 * another process.
 *
 * 1. A custom object and a built-in one have the same size and shape; the custom one is defaulted and validated by its
 *    schema.
 * 2. Rounds take turns, so that a change in the machine's mood meets both; the best of each counts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "./apiserver/connection.ts";
import { type Generator, startGenerator, startK8ts } from "./apiserver/processes.ts";
import { oneOfMany, sameWithRule, type Twin, twins } from "./custom-resources/definitions.ts";
import type { Figure } from "./run.ts";

type Report = (figure: Figure) => void;

const CONNECTIONS = 32;
const ROUNDS = 3;
const WRITES = 6_000;
const MANY = 500;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export async function run(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-custom-resources-"));
  try {
    await using generator = startGenerator();
    const few = join(dir, "few");
    {
      await using server = await startK8ts(few);
      for (const twin of [...twins, sameWithRule]) await against(report, server.target, generator, twin);
    }
    await manyKinds(report, generator, join(dir, "many"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function against(report: Report, target: Target, generator: Generator, twin: Twin): Promise<void> {
  await send(target, "POST", DEFINITIONS, JSON.stringify(twin.definition));
  await served(target, [twin.path]);
  const builtIn = `/api/v1/namespaces/default/${twin.of.toLowerCase()}s`;
  const bodies = {
    custom: twin.body,
    builtIn: twin.body.replace(/"kind":"\w+","apiVersion":"[^"]+"/, original(twin.of)),
  };
  const rate = async (path: string, body: string, first: number) => {
    const job = {
      target,
      protocol: "h2",
      connections: CONNECTIONS,
      method: "POST",
      contentType: "application/json",
    } as const;
    return (WRITES * 1000) / (await generator.run({ ...job, path, body, requests: WRITES, first })).ms;
  };
  const offset = twin === sameWithRule ? ROUNDS * WRITES : 0;
  let [value, bound] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const first = offset + round * WRITES;
    bound = Math.max(bound, await rate(builtIn, bodies.builtIn, first));
    value = Math.max(value, await rate(twin.path, bodies.custom, first));
  }
  const rule = twin === sameWithRule ? " with a rule" : "";
  report({ name: `create custom ${twin.of}${rule}, to built in`, value, unit: "requests/s", bound });
}

function original(kind: string): string {
  return `"kind":"${kind}","apiVersion":"v1"`;
}

/** What a cluster with many operators costs. */
async function manyKinds(report: Report, generator: Generator, dir: string): Promise<void> {
  const size = MANY.toLocaleString("en");
  // The connections finish in no order; by then all others have.
  const last = Array.from({ length: CONNECTIONS }, (_, i) => MANY - 1 - i);
  let bound: number;
  let resident: number;
  {
    await using server = await startK8ts(dir);
    const { target } = server;
    [bound, resident] = [server.readyMs, server.residentMb()];
    const start = performance.now();
    const job = { target, protocol: "h2", connections: CONNECTIONS, contentType: "application/json" } as const;
    await generator.run({ ...job, method: "POST", path: DEFINITIONS, body: oneOfMany, requests: MANY });
    await served(
      target,
      last.map((i) => `/apis/g${i}.example.com/v1/things${i}`),
    );
    report({ name: `${size} definitions, until all are served`, value: performance.now() - start, unit: "ms" });
  }
  await using server = await startK8ts(dir);
  const { target } = server;
  report({ name: `ready with ${size} definitions, to none`, value: server.readyMs, unit: "ms", bound });
  report({
    name: `resident with ${size} definitions, to none`,
    value: server.residentMb(),
    unit: "MB",
    bound: resident,
  });
  const asked = [
    { name: "discovery, aggregated", path: "/apis", accept: AGGREGATED },
    { name: "OpenAPI v3, index", path: "/openapi/v3", accept: "application/json" },
    { name: "OpenAPI v3, one group", path: "/openapi/v3/apis/g7.example.com/v1", accept: "application/json" },
    { name: "OpenAPI v2, everything", path: "/openapi/v2", accept: "application/json" },
    { name: "first list of a kind", path: "/apis/g9.example.com/v1/things9", accept: "application/json" },
  ];
  for (const { name, path, accept } of asked) {
    const once = await timed(() => send(target, "GET", path, undefined, accept));
    const again = await timed(() => send(target, "GET", path, undefined, accept));
    report({ name: `${name}, first, to again`, value: once, unit: "ms", bound: again });
  }
}

/** Resolves when the server has the kinds. */
async function served(target: Target, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    while ((await send(target, "GET", `${path}?limit=1`)) !== 200)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Resolves to the status, with the answer read to its end. */
function send(
  { port, caPem, certPem, keyPem }: Target,
  method: string,
  path: string,
  body?: string,
  accept = "application/json",
): Promise<number> {
  return new Promise((resolve, reject) => {
    const tls = { ca: caPem, cert: certPem, key: keyPem };
    const headers = { accept, "content-type": "application/json" };
    const options = { host: "127.0.0.1", port, path, method, headers, ...tls, agent: false };
    const request = httpsRequest(options, (response) => {
      response.toArray().then(() => resolve(response.statusCode ?? 0), reject);
    });
    request.once("error", reject).end(body);
  });
}
