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

describe("settings of metrics", () => {
  const lines = (registry: MetricsRegistry) =>
    registry
      .text()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));

  it("disable metrics, also hidden ones that are asked for", () => {
    const registry = new MetricsRegistry({ disabled: ["a", "old"], showsHidden: true });
    registry.counter({ name: "a", help: "" }).labels().inc();
    registry.counter({ name: "old", help: "", hiddenSince: "1.0.0" });
    registry.counter({ name: "b", help: "" });
    expect(lines(registry)).toEqual(["b 0"]);
    expect(() => registry.counter({ name: "a", help: "" })).toThrow("registered already");
  });

  it.each([
    { showsHidden: false, want: [] },
    { showsHidden: true, want: ["old 1"] },
  ])("show hidden metrics: $showsHidden", ({ showsHidden, want }) => {
    const registry = new MetricsRegistry({ showsHidden });
    registry.counter({ name: "old", help: "", hiddenSince: "1.0.0" }).labels().inc();
    expect(lines(registry)).toEqual(want);
  });

  it("limit the values of labels", () => {
    const allowed = new Map([["a", new Map([["verb", new Set(["GET", "LIST"])]])]]);
    const registry = new MetricsRegistry({ allowed });
    const family = registry.counter({ name: "a", help: "", labels: ["verb", "code"] });
    const other = registry.counter({ name: "b", help: "", labels: ["verb"] });
    family.labels("GET", "200").inc();
    family.labels("POST", "200").inc();
    family.labels("PUT", "200").inc();
    other.labels("POST").inc();
    const shown = ['a{verb="GET",code="200"} 1', 'a{verb="unexpected",code="200"} 2', 'b{verb="POST"} 1'];
    expect(lines(registry)).toEqual(shown);
    family.remove("PUT", "200");
    expect(lines(registry)).toEqual([shown[0], shown[2]]);
  });

  it("are reported, with what they did", () => {
    const allowed = new Map([["a", new Map([["x", new Set<string>()]])]]);
    const registry = new MetricsRegistry({ disabled: ["d", "d", "none"], allowed });
    registry.counter({ name: "a", help: "A.", labels: ["x"], stability: "STABLE" }).labels("1");
    registry.counter({ name: "d", help: "" });
    registry.counter({ name: "old", help: "", hiddenSince: "1.0.0" });
    registry.describeItself();
    expect(registry.text()).toContain("# HELP a [STABLE] A.\n");
    expect(lines(registry)).toEqual([
      'a{x="unexpected"} 0',
      'registered_metrics_total{stability_level="STABLE",deprecated_version=""} 1',
      'registered_metrics_total{stability_level="BETA",deprecated_version=""} 3',
      'registered_metrics_total{stability_level="ALPHA",deprecated_version=""} 1',
      "disabled_metrics_total 2",
      "hidden_metrics_total 1",
      "cardinality_enforcement_unexpected_categorizations_total 1",
    ]);
  });
});
