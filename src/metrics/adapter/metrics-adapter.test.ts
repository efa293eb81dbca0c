/** The adapter behind an API server, with a Prometheus of the test's own on loopback. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type JsonObject, kinds } from "#api";
import { realClock, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import type { LocalExtension } from "../../apiserver/aggregation/index.ts";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { parseAdapterConfig } from "./config.ts";
import { MetricsAdapter } from "./metrics-adapter.ts";
import { PrometheusClient } from "./prometheus-client.ts";
import { ADAPTER_SERVICE, registerAdapter } from "./register.ts";

const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const SERIES = [
  { __name__: "hits_total", namespace: "default", pod: "web-1", service: "front", instance: "x" },
  { __name__: "hits_total", namespace: "default", pod: "web-2", service: "front" },
  { __name__: "temperature", node: "n1" },
];

interface Prometheus {
  readonly url: string;
  readonly asked: string[];
  /** What queries return. */
  answer: (query: string) => unknown;
}

async function prometheus(): Promise<Prometheus> {
  const found: Prometheus = { url: "", asked: [], answer: () => ({ resultType: "vector", result: [] }) };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [path = "", inPath = ""] = (request.url ?? "").split("?");
      const form = new URLSearchParams(inPath || Buffer.concat(chunks).toString());
      const asked = form.get("match[]") ?? form.get("query") ?? "";
      found.asked.push(`${request.method} ${path} ${asked}`);
      const fail = (status: number, error: string) =>
        response.writeHead(status).end(JSON.stringify({ status: "error", errorType: "bad_data", error }));
      if (asked === "broken") return fail(400, "parse error");
      const series = asked.includes("queue") ? [{ __name__: "queue_length" }] : SERIES;
      const data = path.endsWith("/series") ? series : found.answer(asked);
      response.end(JSON.stringify({ status: "success", data }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(found, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/` });
}

const RULES = `
rules:
- seriesQuery: '{__name__=~"hits.*"}'
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}, service: {resource: services}, node: {resource: node}}}
  name: {matches: "^(.*?)(?:_total)?$", as: "$1"}
  metricsQuery: 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)'
externalRules:
- seriesQuery: 'queue_length'
  resources: {overrides: {namespace: {resource: namespace}}}
  metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>})'
scripted:
  custom:
  - {metric: scripted, resource: services, name: front, value: 250m}
  external:
  - {metric: lag, labels: {lane: fast}, value: "0s=5,1h=50"}
  - {metric: lag, labels: {lane: slow}, value: 7}
`;

async function start(config = RULES, method: "GET" | "POST" = "GET") {
  let adapter: MetricsAdapter | undefined;
  const answer: LocalExtension = async (request) =>
    (await adapter?.answer(request)) ?? { status: 503, headers: {}, body: Buffer.from("") };
  const { namespace, name } = ADAPTER_SERVICE;
  const server = await testServer({ extensions: new Map([[`${namespace}/${name}`, answer]]) });
  const { clock } = server;
  const client = new Client({
    transport: inProcess(server.handle, { name: "admin", groups: ["system:masters"] }),
    clock,
  });
  for (const each of ["default", "kube-system"]) await client.of(kinds.Namespace).create({ metadata: { name: each } });
  for (const each of ["web-1", "web-2", "db-1"])
    await client.of(kinds.Pod).create({
      metadata: { name: each, namespace: "default", labels: { app: each.slice(0, -2) } },
      spec: { containers: [{ name: "main", image: "i" }] },
    });
  const from = await prometheus();
  const complaints: string[] = [];
  const log = {
    ...silentLogger,
    error: (message: string, fields?: object) =>
      complaints.push(
        `${message} ${JSON.stringify(fields, (_, each) => (each instanceof Error ? each.message : each))}`,
      ),
  };
  const parsed = parseAdapterConfig(config);
  const http = new PrometheusClient({ url: from.url, method, timeoutMs: 10_000, clock: realClock() });
  adapter = new MetricsAdapter({ client, config: () => parsed, prometheus: http, clock, log });
  const tasks = new TaskGroup();
  const running = adapter;
  tasks.run("adapter", (signal) => running.run(signal));
  open.push(async () => {
    await tasks.stop();
    http.close();
    await client.close();
    await server.close();
  });
  await expect.poll(() => running.isReady || complaints.length > 0, { timeout: 30_000 }).toBe(true);
  const unregister = await registerAdapter(client, { host: "localhost", port: 443 });
  await server.settle();
  return {
    ...{ server, client, from, complaints, running, unregister },
    get: (path: string) => ask(server, path),
  };
}

/** Answers of an extension come as streams. */
async function ask(server: TestServer, path: string): Promise<{ status: number; json: JsonObject }> {
  const [pathname = "", query = ""] = path.split("?");
  const { signal } = new AbortController();
  const response = await server.handle({
    ...{ method: "GET", path: pathname, query: new URLSearchParams(query), headers: { accept: "application/json" } },
    ...{ body: async () => Buffer.alloc(0), signal, user: { name: "admin", groups: ["system:masters"] } },
  });
  const chunks: Uint8Array[] = [];
  if ("stream" in response)
    await response.stream({
      signal,
      write: async (chunk: Uint8Array) => void chunks.push(chunk),
      drop: () => {},
    } as unknown as Parameters<typeof response.stream>[0]);
  else chunks.push(...response.body);
  return { status: response.status, json: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
}

const vector = (...samples: readonly (readonly [labels: object, value: string])[]) => ({
  resultType: "vector",
  result: samples.map(([metric, value]) => ({ metric, value: [1_900_000_000, value] })),
});
const BETA1 = "/apis/custom.metrics.k8s.io/v1beta1";
const BETA2 = "/apis/custom.metrics.k8s.io/v1beta2";
const QUEUE = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default";

describe("metrics from Prometheus", () => {
  it("are discovered", async () => {
    const { get } = await start();
    const { json } = await get(BETA2);
    const names = (json.resources as readonly { name: string; namespaced: boolean }[]).map(
      ({ name, namespaced }) => `${name} ${namespaced}`,
    );
    expect(names).toEqual([
      "namespaces/hits false",
      "nodes/temperature false",
      "pods/hits true",
      "services/hits true",
      "services/scripted true",
    ]);
    expect((await get("/apis/external.metrics.k8s.io/v1beta1")).json.resources).toMatchObject([
      { name: "lag", namespaced: true, kind: "ExternalMetricValueList", verbs: ["get"] },
      { name: "queue_length" },
    ]);
    expect((await get("/apis/custom.metrics.k8s.io")).json).toMatchObject({
      preferredVersion: { version: "v1beta2" },
    });
  });

  it.each(["GET", "POST"] as const)("of Pods that a selector names, by %s", async (method) => {
    const { get, from } = await start(RULES, method);
    from.answer = () => vector([{ pod: "web-1" }, "1.5"], [{ pod: "web-2" }, "NaN"], [{ pod: "gone" }, "3"]);
    const { status, json } = await get(`${BETA2}/namespaces/default/pods/*/hits?labelSelector=app%3Dweb`);
    expect([status, from.asked.at(-1)]).toEqual([
      200,
      `${method} /base/api/v1/query sum(rate(hits_total{namespace="default",pod=~"web-1|web-2"}[2m])) by (pod)`,
    ]);
    expect(json).toMatchObject({ kind: "MetricValueList", apiVersion: "custom.metrics.k8s.io/v1beta2" });
    expect(json.items).toMatchObject([
      {
        describedObject: { kind: "Pod", namespace: "default", name: "web-1", apiVersion: "v1" },
        metric: { name: "hits", selector: null },
        value: "1500m",
      },
      { describedObject: { name: "web-2" }, value: "0" },
    ]);
  });

  it("of one object, in the older version", async () => {
    const { get, from } = await start();
    from.answer = () => vector([{ service: "front" }, "+Inf"]);
    const path = `${BETA1}/namespaces/default/services/front/hits?metricLabelSelector=code%3D200`;
    const { json } = await get(path);
    expect(from.asked.at(-1)).toContain('hits_total{code="200",namespace="default",service="front"}');
    expect(json.items).toMatchObject([
      {
        metricName: "hits",
        selector: { matchExpressions: [{ key: "code", operator: "In", values: ["200"] }] },
        value: "9223372036854775807m",
      },
    ]);
  });

  it("of a namespace, and of a node", async () => {
    const { get, from } = await start();
    from.answer = () => vector([{ namespace: "default", node: "n1" }, "40"]);
    expect((await get(`${BETA1}/namespaces/default/metrics/hits`)).json.items).toMatchObject([
      { describedObject: { kind: "Namespace", name: "default" }, value: "40" },
    ]);
    expect(from.asked.at(-1)).toContain('hits_total{namespace="default"}[2m])) by (namespace)');
    expect((await get(`${BETA1}/nodes/n1/temperature`)).json.items).toMatchObject([{ value: "40" }]);
  });

  it("of nothing in the cluster", async () => {
    const { get, from } = await start();
    from.answer = () => ({ resultType: "scalar", result: [1_900_000_000.5, "12"] });
    expect((await get(`${QUEUE}/queue_length?labelSelector=lane%3Dfast`)).json.items).toEqual([
      { metricName: "queue_length", metricLabels: {}, timestamp: "2030-03-17T17:46:40Z", value: "12" },
    ]);
    expect(from.asked.at(-1)).toContain('max(queue_length{lane="fast",namespace="default"})');
  });

  it("failures are logged, and not told", async () => {
    const { get, from, complaints } = await start();
    from.answer = () => ({ resultType: "matrix", result: [] });
    const { status, json } = await get(`${QUEUE}/queue_length`);
    expect([status, json.message]).toEqual([500, "Internal error occurred: unable to fetch metrics"]);
    expect(complaints.at(-1)).toContain("expected a vector, got matrix");
  });

  it("a Prometheus that refuses is no end of the adapter", async () => {
    const { complaints, running } = await start("rules: [{seriesQuery: broken}]");
    expect(running.isReady).toBe(false);
    expect(complaints.at(-1)).toMatch(/unable to list|unable to update list of all metrics .*bad_data: parse error/);
  });

  it.each([
    [`${BETA2}/namespaces/default/pods/web-1/none`, "the server could not find the metric none for pods web-1"],
    [`${BETA2}/namespaces/default/pods/*/none`, "the server could not find the metric none for pods"],
    [`${BETA2}/namespaces/default/pods/web-1/hits`, "the server could not find the metric hits for pods web-1"],
    [`${QUEUE}/none`, "the server could not find the metric none"],
    [`${BETA2}/namespaces/default/wheels/a/b`, "the server could not find the metric b for wheels a"],
    [`${BETA2}/namespaces/default/pods/web-1`, "the server could not find the requested resource"],
  ])("%s does not exist", async (path, message) => {
    const { get } = await start();
    const { status, json } = await get(path);
    expect([status, json.message]).toEqual([404, message]);
  });
});

describe("metrics from a script", () => {
  it("follow the clock and the selector", async () => {
    const { get, server } = await start();
    const values = async (selector: string) =>
      ((await get(`${QUEUE}/lag?labelSelector=${encodeURIComponent(selector)}`)).json.items as { value: string }[]).map(
        ({ value }) => value,
      );
    expect([await values(""), await values("lane=fast"), await values("lane=none")]).toEqual([["5", "7"], ["5"], []]);
    await server.clock.advance(3_600_000);
    expect(await values("lane=fast")).toEqual(["50"]);
    const { json } = await get(`${BETA2}/namespaces/default/services/front/scripted`);
    expect(json.items).toMatchObject([{ value: "250m" }]);
    expect((await get(`${BETA2}/namespaces/default/services/other/scripted`)).status).toBe(404);
  });
});

it("leaves an APIService of another adapter alone, and takes its own away", async () => {
  const { client, unregister } = await start();
  const apis = client.of(kinds.APIService);
  const names = async () =>
    (await apis.list()).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => /(custom|external)\.metrics/.test(name ?? ""));
  expect(await names()).toHaveLength(3);
  await unregister();
  expect(await names()).toEqual([]);
  const [theirs] = ["v1beta1.external.metrics.k8s.io"];
  const service = { namespace: "monitoring", name: "theirs", port: 443 };
  const spec = {
    group: "external.metrics.k8s.io",
    version: "v1beta1",
    groupPriorityMinimum: 1,
    versionPriority: 1,
    service,
  };
  await apis.create({ metadata: { name: theirs ?? "" }, spec });
  const again = await registerAdapter(client, { host: "localhost", port: 443 });
  expect((await apis.get(theirs ?? "")).spec?.service?.name).toBe("theirs");
  await again();
  expect(await names()).toEqual([theirs]);
});
