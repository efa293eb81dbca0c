/** The whole way to a collector on loopback, over both protocols. */
import { describe, expect, it } from "vitest";
import { MetricsRegistry, realClock, silentLogger, systemRandom } from "#base";
import { CLIENT, SERVER } from "./span-data.ts";
import { grpcCollector, httpCollector, treeOf } from "./testing/index.ts";
import { Tracing } from "./tracing.ts";

const REMOTE = { traceId: "3".repeat(32), spanId: "b".repeat(16), sampled: true, state: "vendor=1" };

async function opened(endpoint: string, metrics = new MetricsRegistry()): Promise<Tracing> {
  return Tracing.open({
    endpoint,
    samplingRatePerMillion: 0,
    clock: realClock(),
    random: systemRandom(),
    log: silentLogger,
    metrics,
  });
}

describe.each([
  { protocol: "HTTP", collector: httpCollector },
  { protocol: "gRPC", collector: grpcCollector },
])("a collector over $protocol", ({ collector: start }) => {
  it("gets spans with everything that is in them", async () => {
    await using collector = await start();
    const tracing = await opened(collector.endpoint);
    const tracer = tracing.tracer("apiserver", { "host.name": "n1" });
    const root = tracer.root("POST /api/v1/pods", REMOTE, {
      kind: SERVER,
      attributes: { text: "ä", whole: -5, part: 0.5, yes: true, no: false, absent: undefined, empty: "" },
      links: [{ traceId: "4".repeat(32), spanId: "c".repeat(16), sampled: false }],
      startMs: 1_700_000_000_000.25,
    });
    root?.event("stored", { key: "/registry/pods/a" });
    const child = root?.child("Create", { kind: CLIENT });
    child?.fail("no space");
    child?.end();
    root?.end(1_700_000_000_001.5);
    await tracing.close();
    expect(treeOf(collector.spans, REMOTE.traceId)).toEqual(["apiserver: POST /api/v1/pods", "  apiserver: Create"]);
    expect(collector.spans.find(({ name }) => name !== "Create")).toMatchObject({
      parentSpanId: REMOTE.spanId,
      kind: SERVER,
      startMs: 1_700_000_000_000.25,
      endMs: 1_700_000_000_001.5,
      attributes: { text: "ä", whole: -5, part: 0.5, yes: true, no: false, empty: "" },
      events: ["stored"],
      links: ["4".repeat(32)],
      state: "vendor=1",
      failure: undefined,
    });
    expect(collector.spans.find(({ name }) => name === "Create")).toMatchObject({ failure: "no space", kind: CLIENT });
  });

  it("that refuses spans costs no more than them", async () => {
    await using collector = await start();
    collector.answer = "refuse";
    const metrics = new MetricsRegistry();
    const tracing = await opened(collector.endpoint, metrics);
    tracing.tracer("apiserver").root("GET", REMOTE, {})?.end();
    await tracing.close();
    expect(metrics.text()).toContain('k8ts_trace_spans_total{result="failed"} 1');
  });
});

it("traces that begin here are not recorded at a rate of 0", async () => {
  await using collector = await httpCollector();
  const tracing = await opened(collector.endpoint);
  expect(tracing.tracer("apiserver").root("GET", undefined, {})).toBeUndefined();
  await tracing.close();
  expect(collector.requests).toBe(0);
});
