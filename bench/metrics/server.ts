/**
 * The process that is measured: the metrics server with its scraper, over the nodes and Pods of a list. It sends what it
 * costs: before it has nodes, and for some rounds after two.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type core, type KubeObject, kinds } from "#api";
import { realClock, silentLogger, systemRandom } from "#base";
import { Client, type Transport, type TransportRequest } from "#client";
import { ADDRESS_TYPES, kubeletScraper, MetricsServer } from "#metrics";
import { type Asked, addressOf, podName } from "./fleet.ts";

const RESOLUTION_MS = 15_000;
const ROUNDS = 3;

export interface Cost {
  readonly idleMb: number;
  readonly residentMb: number;
  readonly processorSeconds: number;
  readonly seconds: number;
  /** Pods and nodes with figures. */
  readonly shown: { readonly pods: number; readonly nodes: number };
}

process.once("message", async (asked: Asked) => {
  const clock = realClock();
  const idleMb = residentMb();
  const stopping = new AbortController();
  const client = new Client({ transport: listOf(asked), clock, userAgent: "bench" });
  const kubelets = kubeletScraper({
    clock,
    timeoutMs: 10_000,
    insecure: true,
    port: asked.port,
    addressTypes: ADDRESS_TYPES,
    ca: undefined,
    certificate: undefined,
    token: () => "token",
  });
  const server = new MetricsServer({
    client,
    pods: client.metadataOf(kinds.Pod as never) as never,
    scrape: kubelets.scrape,
    resolutionMs: RESOLUTION_MS,
    clock,
    random: systemRandom(),
    log: silentLogger,
  });
  const running = server.run(stopping.signal);
  while (!server.isReady) await sleep(100);
  await sleep(RESOLUTION_MS);
  const [cpu, start] = [process.cpuUsage(), clock.monotonic()];
  await sleep(ROUNDS * RESOLUTION_MS);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (clock.monotonic() - start) / 1000;
  const resident = residentMb();
  const count = (what: string) => {
    const path = `/apis/metrics.k8s.io/v1beta1/${what}`;
    const { body } = server.answer({ method: "GET", path, accept: "application/json" });
    return (JSON.parse(String(body)) as { items: unknown[] }).items.length;
  };
  const shown = { pods: count("pods"), nodes: count("nodes") };
  stopping.abort();
  await running;
  await kubelets.close();
  process.send?.({
    idleMb,
    residentMb: resident,
    processorSeconds: (user + system) / 1e6,
    seconds,
    shown,
  } satisfies Cost);
  process.disconnect?.();
});

/** Lists nodes and Pods; watches stay silent. */
function listOf({ nodes, podsEach }: Asked): Transport {
  const metadata = { resourceVersion: "1" };
  const node = (_: unknown, i: number): core.Node => ({
    metadata: {
      name: `node-${i}`,
      uid: `node-${i}`,
      resourceVersion: "1",
      labels: { "kubernetes.io/hostname": `node-${i}` },
    },
    status: { addresses: [{ type: "InternalIP", address: addressOf(i) }] },
  });
  const pod = (_: unknown, i: number): KubeObject => ({
    metadata: {
      name: podName(Math.floor(i / podsEach), i % podsEach),
      namespace: "default",
      uid: `pod-${i}`,
      resourceVersion: "1",
      labels: { app: "web", "pod-template-hash": "6c8b49d74c" },
    },
  });
  const body = {
    nodes: JSON.stringify({ kind: "NodeList", apiVersion: "v1", metadata, items: Array.from({ length: nodes }, node) }),
    pods: JSON.stringify({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata,
      items: Array.from({ length: nodes * podsEach }, pod),
    }),
  };
  const headers = { "content-type": "application/json" };
  const answer = async function* (
    { searchParams, pathname }: URL,
    { ending }: TransportRequest,
  ): AsyncGenerator<Uint8Array> {
    if (searchParams.get("watch") === "true") await once(ending.signal, "abort");
    else yield Buffer.from(pathname.endsWith("/pods") ? body.pods : body.nodes);
  };
  return {
    send: async (request) => {
      const url = new URL(request.target, "http://x");
      // Clients of a server without streamed lists fall back to a plain one.
      if (url.searchParams.has("sendInitialEvents")) return { status: 422, headers, body: refusal() };
      return { status: 200, headers, body: answer(url, request) };
    },
    close: async () => {},
  };
}

async function* refusal(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(
    JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422 }),
  );
}

function residentMb(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
