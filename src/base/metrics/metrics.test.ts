import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "./metrics.ts";

describe("MetricsRegistry", () => {
  it("writes counters, gauges and histograms in the text format", () => {
    const registry = new MetricsRegistry();
    const requests = registry.counter({ name: "requests_total", help: "Requests.", labels: ["verb", "code"] });
    requests.labels("GET", "200").inc();
    requests.labels("GET", "200").inc(2);
    requests.labels("GET", "404").inc();
    registry.gauge({ name: "depth", help: "Depth." }).labels().set(-1.5);
    const seconds = registry.histogram({ name: "seconds", help: "Time.", labels: ["verb"], buckets: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.labels("GET").observe(value);
    expect(registry.text()).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{verb="GET",code="200"} 3
requests_total{verb="GET",code="404"} 1
# HELP depth Depth.
# TYPE depth gauge
depth -1.5
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{verb="GET",le="0.1"} 2
seconds_bucket{verb="GET",le="1"} 3
seconds_bucket{verb="GET",le="+Inf"} 4
seconds_sum{verb="GET"} 7.65
seconds_count{verb="GET"} 4
`);
  });

  it("shows families without labels from the start, those with labels once there is something", () => {
    const registry = new MetricsRegistry();
    expect(registry.text()).toBe("");
    registry.counter({ name: "a", help: "A" });
    registry.histogram({ name: "h", help: "H", buckets: [] });
    registry.counter({ name: "b", help: "B", labels: ["x"] });
    expect(
      registry
        .text()
        .split("\n")
        .filter((line) => !line.startsWith("#")),
    ).toEqual(["a 0", 'h_bucket{le="+Inf"} 0', "h_sum 0", "h_count 0", ""]);
  });

  it("escapes help and label values", () => {
    const registry = new MetricsRegistry();
    const family = registry.counter({ name: "a", help: 'one\ntwo \\ "three"', labels: ["path"] });
    family.labels('C:\\x\n"y"').inc();
    expect(registry.text()).toBe('# HELP a one\\ntwo \\\\ "three"\n# TYPE a counter\na{path="C:\\\\x\\n\\"y\\""} 1\n');
  });

  const numbers: [number, string][] = [
    [Infinity, "+Inf"],
    [-Infinity, "-Inf"],
    [Number.NaN, "NaN"],
    [1e21, "1e+21"],
    [0.1, "0.1"],
  ];
  it.each(numbers)("writes %d as %s", (value, want) => {
    const registry = new MetricsRegistry();
    registry.gauge({ name: "a", help: "" }).labels().set(value);
    expect(registry.text()).toContain(`\na ${want}\n`);
  });

  it("returns the same child for the same values, and tells apart what merely joins alike", () => {
    const family = new MetricsRegistry().counter({ name: "a", help: "", labels: ["x", "y"] });
    expect(family.labels("1", "2")).toBe(family.labels("1", "2"));
    const alike = [
      family.labels("a,b", "c"),
      family.labels("a", "b,c"),
      family.labels("", "a"),
      family.labels("a", ""),
    ];
    expect(new Set(alike).size).toBe(4);
    family.clear();
    expect([...family.samples()]).toEqual([]);
  });

  it("reads through collect callbacks until they are ended", () => {
    const registry = new MetricsRegistry();
    const gauge = registry.gauge({ name: "a", help: "" }).labels();
    let reads = 0;
    const stop = registry.collect(() => gauge.set(++reads));
    expect(registry.text()).toContain("\na 1\n");
    expect(registry.text()).toContain("\na 2\n");
    stop();
    expect(registry.text()).toContain("\na 2\n");
  });

  const refused: { name: string; register: (registry: MetricsRegistry) => unknown; want: string }[] = [
    { name: "a bad name", register: (r) => r.counter({ name: "a-b", help: "" }), want: "not a metric name" },
    { name: "a bad label", register: (r) => r.counter({ name: "b", help: "", labels: ["x-y"] }), want: "label name" },
    {
      name: "a reserved label",
      register: (r) => r.gauge({ name: "b", help: "", labels: ["__x"] }),
      want: "label name",
    },
    { name: "a label twice", register: (r) => r.gauge({ name: "b", help: "", labels: ["x", "x"] }), want: "twice" },
    { name: "a name twice", register: (r) => r.gauge({ name: "taken", help: "" }), want: "registered already" },
    {
      name: "le",
      register: (r) => r.histogram({ name: "b", help: "", labels: ["le"], buckets: [] }),
      want: "own label",
    },
    { name: "falling buckets", register: (r) => r.histogram({ name: "b", help: "", buckets: [2, 1] }), want: "rise" },
  ];
  it.each(refused)("refuses $name", ({ register, want }) => {
    const registry = new MetricsRegistry();
    registry.gauge({ name: "taken", help: "" });
    expect(() => register(registry)).toThrow(want);
  });

  it("refuses a wrong number of label values", () => {
    const family = new MetricsRegistry().counter({ name: "a", help: "", labels: ["x"] });
    // @ts-expect-error one value is required
    expect(() => family.labels()).toThrow(RangeError);
  });
});
