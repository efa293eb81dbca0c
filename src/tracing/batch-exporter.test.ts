import { beforeEach, describe, expect, it } from "vitest";
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from "#base";
import { BatchExporter, PERIOD_MS } from "./batch-exporter.ts";
import type { Sender, SendOutcome } from "./sender.ts";
import type { SpanData } from "./span-data.ts";

const SPAN: SpanData = {
  traceId: "1".repeat(32),
  spanId: "2".repeat(16),
  parentSpanId: undefined,
  state: undefined,
  name: "x",
  kind: 1,
  startMs: 1,
  endMs: 2,
  attributes: {},
  events: [],
  links: [],
  failure: undefined,
};
const RESOURCE = { attributes: {} };

describe("the exporter", () => {
  let clock: VirtualClock;
  let metrics: MetricsRegistry;
  let sent: number;
  let outcome: SendOutcome | "hang";
  let exporter: BatchExporter;
  const add = (count: number) => {
    for (let i = 0; i < count; i++) exporter.add(RESOURCE, SPAN);
  };
  const counts = () =>
    Object.fromEntries(
      [...metrics.text().matchAll(/^k8ts_trace_spans_total\{result="(\w+)"\} (\d+)/gm)].map(([, result, count]) => [
        result,
        Number(count),
      ]),
    );
  beforeEach(() => {
    clock = new VirtualClock();
    metrics = new MetricsRegistry();
    sent = 0;
    outcome = { kind: "sent" };
    const sender: Sender = {
      send: async (_, signal) => {
        sent += 1;
        if (outcome !== "hang") return outcome;
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ kind: "later", why: "aborted" }), { once: true });
        });
      },
      close: () => {},
    };
    const spans = metrics.counter({ name: "k8ts_trace_spans_total", help: "", labels: ["result"] });
    const [exported, dropped, failed] = ["exported", "dropped", "failed"].map((result) => spans.labels(result));
    if (exported === undefined || dropped === undefined || failed === undefined) throw new Error("no counters");
    const own = { clock, random: seededRandom(1), log: silentLogger };
    exporter = new BatchExporter({ ...own, sender, counts: { exported, dropped, failed } });
  });

  it("sends a few spans after a while, and many at once", async () => {
    add(3);
    exporter.tick();
    expect(sent).toBe(0);
    await clock.advance(PERIOD_MS);
    exporter.tick();
    expect(sent).toBe(1);
    await exporter.flush();
    add(512);
    await clock.advance(0);
    expect(sent).toBe(2);
    expect(counts()).toMatchObject({ exported: 515 });
  });

  it("drops what is too much while the collector hangs, and nobody waits", async () => {
    outcome = "hang";
    add(5000);
    // One batch is under way, 2,048 wait.
    expect(counts()).toMatchObject({ dropped: 5000 - 512 - 2048 });
    const closing = exporter.close();
    await clock.advance(5000);
    await closing;
    expect(counts()).toMatchObject({ failed: 2560, exported: 0 });
  });

  it("tries again for a minute, then drops the batch", async () => {
    outcome = { kind: "later", why: "503" };
    add(1);
    const flushed = exporter.flush();
    await clock.advance(120_000);
    await flushed;
    expect(sent).toBeGreaterThan(5);
    expect(counts()).toMatchObject({ failed: 1, exported: 0 });
  });

  it("tries again until the collector is back", async () => {
    outcome = { kind: "later", why: "503" };
    add(1);
    const flushed = exporter.flush();
    await clock.advance(2500);
    outcome = { kind: "sent" };
    await clock.advance(30_000);
    await flushed;
    expect(counts()).toMatchObject({ exported: 1 });
  });

  it("does not repeat what is refused", async () => {
    outcome = { kind: "refused", why: "400" };
    add(1);
    await exporter.flush();
    expect(sent).toBe(1);
    expect(counts()).toMatchObject({ failed: 1 });
  });

  it("sends what waits when it closes, and takes nothing afterwards", async () => {
    add(1300);
    await exporter.close();
    expect(counts()).toMatchObject({ exported: 1300 });
    add(1);
    expect(counts()).toMatchObject({ dropped: 1 });
  });
});
