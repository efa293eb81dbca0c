import { expect, it } from "vitest";
import { MetricsRegistry } from "#base";
import { mergedMetrics } from "./merged-metrics.ts";

function thread(requests: number, inFlight: number, objects: number, only?: string): string {
  const registry = new MetricsRegistry();
  const counter = registry.counter({ name: "requests_total", help: "Requests.", labels: ["verb"] });
  counter.labels("GET").inc(requests);
  if (only !== undefined) counter.labels(only).inc();
  registry.gauge({ name: "apiserver_current_inflight_requests", help: "Now." }).labels().set(inFlight);
  registry.gauge({ name: "objects", help: "Stored." }).labels().set(objects);
  const seconds = registry.histogram({ name: "seconds", help: "Time.", buckets: [1] });
  seconds.labels().observe(0.5);
  registry.counter({ name: "process_cpu_seconds_total", help: "CPU." }).labels().inc(7);
  if (only !== undefined) registry.counter({ name: "late_total", help: "Late." }).labels().inc(3);
  return registry.text();
}

it("adds up what each thread counts, and shows once what is the process's", () => {
  expect(
    mergedMetrics(thread(2, 1, 5), [thread(3, 4, 5), thread(10, 0, 4, "PUT")]),
  ).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{verb="GET"} 15
requests_total{verb="PUT"} 1
# HELP apiserver_current_inflight_requests Now.
# TYPE apiserver_current_inflight_requests gauge
apiserver_current_inflight_requests 5
# HELP objects Stored.
# TYPE objects gauge
objects 5
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="1"} 3
seconds_bucket{le="+Inf"} 3
seconds_sum 1.5
seconds_count 3
# HELP process_cpu_seconds_total CPU.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 7
# HELP late_total Late.
# TYPE late_total counter
late_total 3
`);
});

it("of one thread is its own text", () => {
  const own = thread(1, 1, 1);
  expect(mergedMetrics(own, [])).toBe(own);
});
