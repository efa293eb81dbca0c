import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "#base";
import { FlowMetrics } from "./metrics.ts";

/** What is observed one by one, and what is told together, has to look the same. */
function shown(count: (samples: ReturnType<FlowMetrics["ofFlow"]>) => void): string {
  const registry = new MetricsRegistry();
  const metrics = new FlowMetrics(registry);
  const samples = metrics.ofFlow("schema", "level");
  count(samples);
  metrics.tell();
  metrics.tell();
  return registry.text();
}

describe("usual requests", () => {
  it("are in the metrics as if each had been observed", () => {
    const seconds = [0.001, 0.005, 0.0001220703125, 0, 0.0050001, 30];
    const one = shown(({ dispatched, waited, seats, executed }) => {
      for (const each of seconds) {
        dispatched.inc();
        waited.observe(0);
        seats.observe(1);
        executed.observe(each);
      }
    });
    const together = shown(({ usual }) => {
      for (const each of seconds) {
        usual.started();
        usual.executed(each);
      }
    });
    const rounded = (text: string) =>
      text.replace(/(execution_seconds_sum\S* )(\S+)/, (_, name, sum) => name + Number(sum).toFixed(9));
    expect(rounded(together)).toBe(rounded(one));
  });

  it("of the same flow are counted together, whoever asks for its samples", () => {
    const metrics = new FlowMetrics(new MetricsRegistry());
    expect(metrics.ofFlow("a", "b")).toBe(metrics.ofFlow("a", "b"));
    expect(metrics.ofFlow("a", "b")).not.toBe(metrics.ofFlow("a", "c"));
  });
});
