import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "./metrics.ts";
import { registerProcessMetrics } from "./process-metrics.ts";

function read(registry: MetricsRegistry): Map<string, number> {
  const lines = registry.text().trimEnd().split("\n");
  return new Map(
    lines.filter((line) => !line.startsWith("#")).map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]),
  );
}

describe("registerProcessMetrics", () => {
  it("reports this process under the usual names", () => {
    const registry = new MetricsRegistry();
    using _ = registerProcessMetrics(registry);
    const values = read(registry);
    const now = Date.now() / 1000;
    expect(values.get("process_cpu_seconds_total")).toBeGreaterThan(0);
    expect(values.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(values.get("nodejs_heap_size_used_bytes")).toBeGreaterThan(1e5);
    expect(values.get("process_start_time_seconds")).toBeGreaterThan(now - 86_400);
    expect(values.get("process_start_time_seconds")).toBeLessThan(now);
    expect(values.get("nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
    if (process.platform === "linux") {
      expect(values.get("process_open_fds")).toBeGreaterThan(2);
      expect(values.get("process_max_fds")).toBeGreaterThan(values.get("process_open_fds") ?? Infinity);
      expect(values.get("process_virtual_memory_bytes")).toBeGreaterThan(1e6);
    }
  });

  it("sees the event loop held up", async () => {
    const registry = new MetricsRegistry();
    using _ = registerProcessMetrics(registry);
    let worst = 0;
    // The monitor's first sample may come late; hold the loop up until one is seen.
    for (let round = 0; round < 20 && worst < 0.05; round++) {
      await new Promise((resolve) => setTimeout(resolve, 110));
      const until = performance.now() + 300;
      while (performance.now() < until);
      await new Promise((resolve) => setTimeout(resolve, 110));
      worst = read(registry).get("nodejs_eventloop_lag_max_seconds") ?? 0;
    }
    expect(worst).toBeGreaterThanOrEqual(0.05);
  });

  it("stops reading when disposed of", () => {
    const registry = new MetricsRegistry();
    registerProcessMetrics(registry)[Symbol.dispose]();
    expect(read(registry).get("process_resident_memory_bytes")).toBe(0);
  });
});
