import { afterEach, describe, expect, it } from "vitest";
import { type core, type JsonObject, kinds } from "#api";
import { seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import type { LocalExtension } from "../apiserver/aggregation/index.ts";
import { type TestServer, testServer } from "../apiserver/testing/index.ts";
import { MetricsServer } from "./metrics-server.ts";
import { registerMetrics } from "./register.ts";
import { ADDRESS_TYPES, addressOf } from "./scrape/kubelet-scraper.ts";

const BASE = "/apis/metrics.k8s.io/v1beta1";
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Running {
  readonly server: TestServer;
  readonly client: Client;
  readonly complaints: string[];
  get(path: string, accept?: string): Promise<{ status: number; json: JsonObject }>;
}

/** Two nodes; node-2 does not answer. On node-1 `web` uses half a core, `idle` a tenth. */
async function start(service = { namespace: "kube-system", name: "metrics" }): Promise<Running> {
  let metrics: MetricsServer | undefined;
  const answer: LocalExtension = (request) =>
    metrics?.answer(request) ?? { status: 503, headers: {}, body: Buffer.from("") };
  const server = await testServer({ extensions: new Map([["kube-system/metrics", answer]]) });
  const { clock } = server;
  const user = { name: "admin", groups: ["system:masters"] };
  const client = new Client({ transport: inProcess(server.handle, user), clock });
  for (const name of ["default", "kube-system", "other"])
    await client.of(kinds.Namespace).create({ metadata: { name } });
  for (const name of ["node-1", "node-2"]) await client.of(kinds.Node).create({ metadata: { name, labels: { name } } });
  const containers = [{ name: "main", image: "i" }];
  for (const [namespace, name] of [
    ["default", "web"],
    ["default", "idle"],
    ["other", "web"],
    ["default", "unseen"],
  ])
    await client.of(kinds.Pod).create({
      metadata: { name: name ?? "", namespace: namespace ?? "", labels: { name: name ?? "" } },
      spec: { containers },
    });
  const complaints: string[] = [];
  metrics = new MetricsServer({
    client,
    scrape: async ({ metadata }) => {
      if (metadata.name === "node-2") throw new Error("no route to host");
      const now = clock.now();
      const seconds = 1000 + (now % 1e8) / 1000;
      const pod = (namespace: string, name: string, cores: number) => {
        const labels = `{container="main",namespace="${namespace}",pod="${name}"}`;
        return `container_cpu_usage_seconds_total${labels} ${seconds * cores} ${now}\ncontainer_memory_working_set_bytes${labels} 1048576 ${now}\n`;
      };
      const node = `node_cpu_usage_seconds_total ${seconds} ${now}\nnode_memory_working_set_bytes 5000000 ${now}\n`;
      return (
        node +
        pod("default", "web", 0.5) +
        pod("default", "idle", 0.1) +
        pod("other", "web", 0.25) +
        pod("default", "gone", 1)
      );
    },
    clock,
    random: seededRandom(1),
    log: { ...silentLogger, warn: (message, fields) => void complaints.push(`${message} ${fields?.node}`) },
  });
  const running = metrics;
  const tasks = new TaskGroup();
  tasks.run("metrics", (signal) => running.run(signal));
  open.push(async () => {
    await tasks.stop();
    await client.close();
    await server.close();
  });
  await registerMetrics(client, service);
  await server.settle();
  for (let passed = 0; passed < 40_000; passed += 5_000) {
    await clock.advance(5_000);
    await server.settle();
  }
  return {
    server,
    client,
    complaints,
    async get(path, accept = "application/json") {
      const transport = await server.handle({
        method: "GET",
        path: path.split("?")[0] ?? "",
        query: new URLSearchParams(path.split("?")[1] ?? ""),
        headers: { accept },
        body: async () => Buffer.alloc(0),
        signal: new AbortController().signal,
        user,
      });
      const chunks: Uint8Array[] = [];
      if ("stream" in transport)
        await transport.stream({
          signal: new AbortController().signal,
          write: async (chunk: Uint8Array) => void chunks.push(chunk),
          drop: () => {},
        } as never);
      else chunks.push(...transport.body);
      return { status: transport.status, json: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
    },
  };
}

const named = ({ json }: { json: JsonObject }) =>
  (json.items as unknown as core.Pod[]).map(({ metadata }) =>
    [metadata.namespace, metadata.name].filter(Boolean).join("/"),
  );

describe("the resource metrics API behind the aggregator", () => {
  it("shows what was measured twice", async () => {
    const { get, complaints } = await start();
    const one = await get(`${BASE}/namespaces/default/pods/web`);
    expect(one.json).toMatchObject({
      kind: "PodMetrics",
      apiVersion: "metrics.k8s.io/v1beta1",
      metadata: { name: "web", namespace: "default", labels: { name: "web" } },
      window: "15s",
      containers: [{ name: "main", usage: { cpu: "500m", memory: "1Mi" } }],
    });
    expect((await get(`${BASE}/nodes/node-1`)).json).toMatchObject({ kind: "NodeMetrics", usage: { cpu: "1" } });
    expect(named(await get(`${BASE}/nodes`))).toEqual(["node-1"]);
    expect(named(await get(`${BASE}/pods`))).toEqual(["default/idle", "default/web", "other/web"]);
    expect(named(await get(`${BASE}/namespaces/other/pods`))).toEqual(["other/web"]);
    expect(new Set(complaints)).toEqual(new Set(["Failed to scrape node node-2"]));
  });

  it.each([
    { query: "labelSelector=name%3Dweb", want: ["default/web", "other/web"] },
    { query: "fieldSelector=metadata.name%3Didle", want: ["default/idle"] },
    { query: "fieldSelector=metadata.namespace!%3Dother", want: ["default/idle", "default/web"] },
    { query: "labelSelector=name+in+(idle,none)", want: ["default/idle"] },
  ])("selects by $query", async ({ query, want }) => {
    const { get } = await start();
    expect(named(await get(`${BASE}/pods?${query}`))).toEqual(want);
  });

  it.each([
    {
      path: `${BASE}/namespaces/default/pods/unseen`,
      status: 404,
      message: 'podmetrics.metrics.k8s.io "default/unseen" not found',
    },
    { path: `${BASE}/nodes/node-2`, status: 404, message: 'nodemetrics.metrics.k8s.io "node-2" not found' },
    {
      path: `${BASE}/pods?fieldSelector=spec.nodeName%3Dx`,
      status: 400,
      message: expect.stringContaining("spec.nodeName"),
    },
    { path: `${BASE}/pods?labelSelector=%3D`, status: 400, message: expect.any(String) },
  ])("refuses $path", async ({ path, status, message }) => {
    const { get } = await start();
    const got = await get(path);
    expect([got.status, got.json.kind, got.json.message]).toEqual([status, "Status", message]);
  });

  it("is a table for kubectl get", async () => {
    const { get } = await start();
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const { json } = await get(`${BASE}/namespaces/default/pods`, accept);
    const { columnDefinitions, rows } = json as unknown as {
      columnDefinitions: { name: string }[];
      rows: { cells: string[]; object: core.Pod & { kind: string } }[];
    };
    expect(columnDefinitions.map(({ name }) => name)).toEqual(["Name", "cpu", "memory", "Window"]);
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["idle", "100m", "1Mi", "15s"],
      ["web", "500m", "1Mi", "15s"],
    ]);
    expect(rows[0]?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "idle" } });
  });

  it("is found by discovery and OpenAPI", async () => {
    const { get, client } = await start();
    const { json } = await get(BASE);
    expect(json).toMatchObject({
      kind: "APIResourceList",
      resources: [
        { name: "nodes", kind: "NodeMetrics", namespaced: false, verbs: ["get", "list"] },
        { name: "pods", kind: "PodMetrics", namespaced: true, verbs: ["get", "list"] },
      ],
    });
    const group = (await get("/apis/metrics.k8s.io")).json;
    expect(group).toMatchObject({ kind: "APIGroup", preferredVersion: { version: "v1beta1" } });
    const openApi = (await get(`/openapi/v3${BASE}`)).json;
    expect(Object.keys(openApi.paths as object)).toContain(`${BASE}/namespaces/{namespace}/pods/{name}`);
    const service = await client.of(kinds.APIService).get("v1beta1.metrics.k8s.io");
    expect(service.status?.conditions).toMatchObject([{ type: "Available", status: "True", reason: "Passed" }]);
  });

  it("leaves the APIService of another metrics-server as it is", async () => {
    const { client } = await start({ namespace: "kube-system", name: "metrics-server" });
    await registerMetrics(client, { namespace: "kube-system", name: "metrics" });
    const { spec } = await client.of(kinds.APIService).get("v1beta1.metrics.k8s.io");
    expect(spec?.service).toMatchObject({ name: "metrics-server" });
  });
});

describe("where a kubelet is asked", () => {
  const node = (addresses: core.NodeAddress[], port?: number): core.Node => ({
    metadata: { name: "n" },
    status: { addresses, ...(port !== undefined && { daemonEndpoints: { kubeletEndpoint: { Port: port } } }) },
  });
  const both = [
    { type: "Hostname", address: "n.local" },
    { type: "InternalIP", address: "10.0.0.1" },
  ];
  it.each([
    {
      name: "the internal address, the usual port",
      given: node(both),
      types: ADDRESS_TYPES,
      want: { host: "10.0.0.1", port: 10250 },
    },
    {
      name: "the port of its status",
      given: node(both, 10300),
      types: ADDRESS_TYPES,
      want: { host: "10.0.0.1", port: 10300 },
    },
    { name: "another type of address", given: node(both), types: ["Hostname"], want: { host: "n.local", port: 10250 } },
  ])("$name", ({ given, types, want }) => expect(addressOf(given, types)).toEqual(want));
  it("nowhere", () => expect(() => addressOf(node([]), ["InternalIP"])).toThrow("node n has no address"));
});
