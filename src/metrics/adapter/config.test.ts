import { describe, expect, it } from "vitest";
import { parseLabelSelector } from "#api";
import { parseAdapterConfig } from "./config.ts";
import { metricNamer, resourceLabels } from "./naming.ts";
import { queryOf } from "./prometheus-query.ts";
import { compileTemplate } from "./template.ts";

describe("names of metrics", () => {
  it.each<[matches: string | undefined, as: string | undefined, series: string, want: string | undefined]>([
    [undefined, undefined, "hits_total", "hits_total"],
    ["^(.*)_total$", undefined, "hits_total", "hits"],
    ["^(.*)_total$", undefined, "hits", undefined],
    ["^(.*)_total$", `\${1}_per_second`, "hits_total", "hits_per_second"],
    // As in Go: the longest name is taken, and there is no group 1_per_second.
    ["^(.*)_total$", "$1_per_second", "hits_total", ""],
    ["^(a)_(b)$", "$2.$1", "a_b", "b.a"],
    ["_total$", "", "hits_total", "hits_total"],
    ["_total$", "_sum", "hits_total", "hits_sum"],
    ["^x$", "$$1", "x", "$1"],
  ])("%s as %s: %s", (matches, as, series, want) => expect(metricNamer({ matches, as })(series)).toBe(want));

  it("several groups need a form", () =>
    expect(() => metricNamer({ matches: "(a)(b)" })).toThrow('name.as is required: "(a)(b)" has 2 groups'));
});

describe("labels of resources", () => {
  const pod = { group: "", singular: "pod", plural: "pods" };
  const deployment = { group: "apps", singular: "deployment", plural: "deployments" };
  it("by overrides", () => {
    const labels = resourceLabels({
      overrides: { kubernetes_pod: { group: "", resource: "pod" }, app: { group: "apps", resource: "deployments" } },
    });
    expect([labels.labelOf(pod), labels.labelOf(deployment)]).toEqual(["kubernetes_pod", "app"]);
    expect(labels.labelOf({ group: "", singular: "node", plural: "nodes" })).toBeUndefined();
    expect(labels.resourceOf("app")).toEqual({ group: "apps", resource: "deployments" });
    expect(labels.resourceOf("toString")).toBeUndefined();
  });

  it("by a template", () => {
    const labels = resourceLabels({ template: "kube_<<.Group>>_<<.Resource>>" });
    expect(labels.labelOf(deployment)).toBe("kube_apps_deployment");
    expect(labels.labelOf({ group: "metrics.example.com", singular: "x", plural: "xs" })).toBe(
      "kube_metrics_example_com_x",
    );
    expect(labels.resourceOf("kube_apps_deployment")).toEqual({ group: "apps", resource: "deployment" });
    expect(labels.resourceOf("app")).toBeUndefined();
    expect(resourceLabels({ template: "<<.Resource>>" }).resourceOf("pod")).toEqual({ resource: "pod" });
  });

  it("a template needs the resource", () =>
    expect(() => resourceLabels({ template: "kube_<<.Group>>" })).toThrow("needs <<.Resource>>"));
});

describe("queries", () => {
  const query = (text: string) => ({
    query: compileTemplate(text, ["Series", "LabelMatchers", "GroupBy", "LabelValuesByName"]),
  });
  const rate = query("sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)");
  const all = parseLabelSelector("");
  it.each<[name: string, want: string, parts: Parameters<typeof queryOf>[1]]>([
    [
      "one Pod",
      'sum(rate(hits{ns="a",pod="x"}[2m])) by (pod)',
      { series: "hits", selector: all, namespace: ["ns", "a"], objects: ["pod", ["x"]] },
    ],
    [
      "several: names are themselves, not patterns",
      'sum(rate(hits{ns="a",pod=~"x\\\\.1|y"}[2m])) by (pod)',
      { series: "hits", selector: all, namespace: ["ns", "a"], objects: ["pod", ["x.1", "y"]] },
    ],
    [
      "without a namespace",
      'sum(rate(hits{node="n"}[2m])) by (node)',
      { series: "hits", selector: all, objects: ["node", ["n"]] },
    ],
    [
      "of an external metric, with a selector",
      'sum(rate(queue{a="1",b!~"2|3",c!="",d="",ns="x"}[2m])) by ()',
      { series: "queue", selector: parseLabelSelector("a=1,b notin (2,3),c,!d"), namespace: ["ns", "x"] },
    ],
    ["quotes", 'sum(rate(hits{ns="a\\"b"}[2m])) by ()', { series: "hits", selector: all, namespace: ["ns", 'a"b'] }],
  ])("%s", (_name, want, parts) => expect(queryOf(rate, parts)).toBe(want));

  it("entries of maps", () =>
    expect(
      queryOf(query('<< .Series >>{x="<<index .LabelValuesByName "ns">>",y="<<.LabelValuesByName.pod>>"}'), {
        ...{ series: "hits", selector: all, namespace: ["ns", "a"], objects: ["pod", ["x", "y"]] },
      }),
    ).toBe('hits{x="a",y="x|y"}'));

  it("an operator that Prometheus has not", () =>
    expect(() => queryOf(rate, { series: "q", selector: parseLabelSelector("a>1") })).toThrow("operator gt"));
});

describe("a configuration", () => {
  it("of prometheus-adapter is taken as it is", () => {
    const { rules, externalRules } = parseAdapterConfig(`
rules:
- seriesQuery: '{__name__=~"^http_.*",namespace!=""}'
  seriesFilters: [{isNot: "_bucket$"}, {is: "_total$"}]
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
  name: {matches: "^(.*)_total$", as: "\${1}_per_second"}
  metricsQuery: 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)'
externalRules:
- seriesQuery: '{__name__="queue"}'
  resources: {namespaced: false}
`);
    const [rule] = rules;
    expect(["http_a_total", "http_a_bucket", "http_a"].map((name) => rule?.nameOf(name))).toEqual([
      "http_a_per_second",
      undefined,
      undefined,
    ]);
    expect(externalRules).toMatchObject([{ seriesQuery: '{__name__="queue"}', namespaced: false }]);
  });

  it.each([
    ["rules: {}", "rules must be a list"],
    ["rules: [{}]", "rules[0]: seriesQuery is required"],
    ["rules: [{seriesQuery: a, query: b}]", 'rules[0]: a rule has no field "query" here'],
    ["rules: [{seriesQuery: a, labelValueReplacements: []}]", 'has no field "labelValueReplacements"'],
    ["rules: [{seriesQuery: a, seriesFilters: [{is: a, isNot: b}]}]", "seriesFilters[0]: exactly one of is and isNot"],
    ["rules: [{seriesQuery: a, name: {matches: '('}}]", "is not a regular expression"],
    [
      "rules: [{seriesQuery: a, metricsQuery: '<<range .GroupBySlice>>'}]",
      "metricsQuery: <<range .GroupBySlice>> is not supported",
    ],
    ["rules: [{seriesQuery: a, metricsQuery: '<<.Serie>>'}]", "there is no field Serie"],
    ["rules: [{seriesQuery: a, metricsQuery: '<<.Series'}]", "is not closed"],
    ["rules: [{seriesQuery: a, resources: {namespaced: false}}]", 'resources has no field "namespaced" here'],
    ["resourceRules: {}", "resource metrics come from kubelets here"],
    ["rule: []", 'the file has no field "rule" here'],
    ["scripted: {custom: [{metric: a, value: 1}]}", "scripted: custom[0]: resource is required"],
    ["scripted: {external: [{metric: a, value: much}]}", 'external[0]: value: "much" is not a quantity'],
    ["a: [", "it is not YAML"],
  ])("%s is refused", (text, problem) => expect(() => parseAdapterConfig(text)).toThrow(problem));
});
