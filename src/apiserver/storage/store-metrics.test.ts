import { describe, expect, it } from "vitest";
import { MetricsRegistry, settled, silentLogger, VirtualClock } from "#base";
import { configMap, testServer } from "../testing/index.ts";
import { countObjects, measureStore } from "./store-metrics.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const COUNT = 'apiserver_resource_objects{group="",resource="configmaps"}';

describe("counts of objects", () => {
  it("are taken at the interval", async () => {
    const server = await testServer();
    const metrics = new MetricsRegistry();
    const stopping = new AbortController();
    const counting = countObjects({ ...server, metrics, periodMs: 10_000 }, stopping.signal);
    const shown = () =>
      metrics
        .text()
        .split("\n")
        .find((line) => line.startsWith(COUNT));
    expect(shown()).toBe(`${COUNT} 0`);
    await server.request("POST", CONFIG_MAPS, { body: configMap("x") });
    expect(shown()).toBe(`${COUNT} 0`);
    await server.clock.advance(10_000);
    expect(shown()).toBe(`${COUNT} 1`);
    stopping.abort();
    await counting;
    await server.close();
  });

  it("are off at 0", async () => {
    const server = await testServer();
    const metrics = new MetricsRegistry();
    await countObjects({ ...server, metrics, periodMs: 0 }, new AbortController().signal);
    expect(metrics.text()).toBe("");
    await server.close();
  });
});

describe("the size of the store", () => {
  const run = (sizeBytes: (() => Promise<number>) | undefined, intervalMs?: number) => {
    const [clock, metrics, stopping] = [new VirtualClock(), new MetricsRegistry(), new AbortController()];
    const store = sizeBytes === undefined ? {} : { sizeBytes };
    const done = measureStore({ store, metrics, clock, log: silentLogger, intervalMs }, stopping.signal);
    return { clock, done, stopping, shown: () => /apiserver_storage_size_bytes\{.*/.exec(metrics.text())?.[0] };
  };

  it("is read at the interval, and kept while it cannot be read", async () => {
    const sizes = [100, undefined, 300];
    const { clock, done, stopping, shown } = run(async () => {
      const next = sizes.shift();
      if (next === undefined) throw new Error("no answer");
      return next;
    });
    const seen: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      await settled();
      seen.push(shown());
      await clock.advance(30_000);
    }
    const of = (bytes: number) => `apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} ${bytes}`;
    expect(seen).toEqual([of(100), of(100), of(300)]);
    stopping.abort();
    await done;
  });

  it("is off at 0, and where the store cannot tell", async () => {
    for (const { done, shown } of [run(async () => 1, 0), run(undefined)]) {
      await done;
      expect(shown()).toBeUndefined();
    }
  });
});
