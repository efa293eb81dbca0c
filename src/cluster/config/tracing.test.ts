import { describe, expect, it } from "vitest";
import { parseTracing } from "./tracing.ts";

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";

describe("--tracing-config-file", () => {
  it.each([
    [head, {}],
    [
      `${head}endpoint: otel:4317\nsamplingRatePerMillion: 100\n`,
      { endpoint: "otel:4317", samplingRatePerMillion: 100 },
    ],
    [head.replace("/v1", "/v1beta1"), {}],
    [head.replace("/v1", "/v1alpha1"), {}],
    ['{"apiVersion":"apiserver.config.k8s.io/v1","kind":"TracingConfiguration"}', {}],
  ])("%j is read", (text, want) => {
    expect(parseTracing(text, "t.yaml")).toEqual(want);
  });

  it.each([
    ["", "t.yaml: it is no TracingConfiguration."],
    [":", "t.yaml: "],
    [head.replace("/v1", "/v2"), "it must be of the kind TracingConfiguration"],
    [head.replace("Tracing", "Racing"), "it must be of the kind TracingConfiguration"],
    [
      `${head}samplingRatePerMillion: -1`,
      "--tracing-config-file t.yaml: failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive.",
    ],
    [`${head}endpoints: a:1`, 'unknown field "endpoints"'],
  ])("%j is refused", (text, why) => {
    expect(() => parseTracing(text, "t.yaml")).toThrow(why);
  });
});
