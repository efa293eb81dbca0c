import { describe, expect, it } from "vitest";
import { endpointOf } from "./endpoint.ts";
import { readTracingSettings } from "./settings.ts";

describe("a TracingConfiguration", () => {
  it.each([
    [{}, {}],
    [{ endpoint: null, samplingRatePerMillion: null }, {}],
    [
      { endpoint: "localhost:4317", samplingRatePerMillion: 10 },
      { endpoint: "localhost:4317", samplingRatePerMillion: 10 },
    ],
    [{ endpoint: "https://otel.example:4318" }, { endpoint: "https://otel.example:4318" }],
    [{ endpoint: "unix:///run/otel.sock" }, { endpoint: "unix:///run/otel.sock" }],
    [{ samplingRatePerMillion: 0 }, { samplingRatePerMillion: 0 }],
  ])("%j is taken", (value, want) => {
    expect(readTracingSettings(value)).toEqual(want);
  });

  it.each([
    [{ samplingRatePerMillion: -1 }, "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive"],
    [
      { samplingRatePerMillion: 1_000_001 },
      "samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million",
    ],
    [{ samplingRatePerMillion: 1.5 }, "samplingRatePerMillion: Invalid value: 1.5: must be an integer"],
    [
      { endpoint: "ftp://a:1" },
      'endpoint: Invalid value: "ftp://a:1": unsupported scheme: ftp.  Options are none, dns, unix, http, or https',
    ],
    [{ endpoint: "a b" }, 'endpoint: Invalid value: "a b": it has to be HOST:PORT or a URL'],
    [{ samplingRatePerMilion: 5 }, 'unknown field "samplingRatePerMilion"'],
  ])("%j is refused", (value, why) => {
    expect(() => readTracingSettings(value)).toThrow(why);
  });

  it("names the field where it is part of another object", () => {
    expect(() => readTracingSettings({ endpoint: 5 }, "tracing.")).toThrow("tracing.endpoint: Invalid value: 5");
  });
});

describe("the endpoint decides the protocol", () => {
  it.each([
    ["localhost:4317", { protocol: "grpc", target: "localhost:4317" }],
    ["unix:///run/otel.sock", { protocol: "grpc", target: "unix:///run/otel.sock" }],
    ["http://localhost:4318", { protocol: "http", url: "http://localhost:4318/v1/traces" }],
    ["http://localhost:4318/own/path", { protocol: "http", url: "http://localhost:4318/own/path" }],
    ["https://otel.example", { protocol: "http", url: "https://otel.example/v1/traces" }],
  ])("%s", (text, want) => {
    expect(endpointOf(text)).toEqual(want);
  });
});
