import { describe, expect, it } from "vitest";
import { MetricsRegistry, VirtualClock } from "#base";
import type { Conversion } from "./conversion-review.ts";
import { conversionMetrics } from "./metrics.ts";

const good: Conversion = { ok: true, object: {} };
const bad: Conversion = { ok: false, message: "no", failure: "partial_response" };

describe("metrics of conversion webhooks", () => {
  it.each([
    { name: "a success", given: [good], want: 'result="success",failure_type=""' },
    {
      name: "a failure",
      given: [good, bad],
      want: 'result="failure",failure_type="conversion_webhook_partial_response_failure"',
    },
  ])("count $name", ({ given, want }) => {
    const registry = new MetricsRegistry();
    conversionMetrics(registry, new VirtualClock()).onCall()(given);
    expect(registry.text()).toContain(`apiserver_conversion_webhook_request_total{${want}} 1\n`);
    expect(registry.text()).toContain(`apiserver_conversion_webhook_duration_seconds_count{${want}} 1\n`);
  });

  it.each([
    { name: "between versions", from: "example.com/v1", outcomes: [good], want: "true" },
    { name: "that fail", from: "example.com/v1", outcomes: [bad], want: "false" },
    { name: "to the same version: not", from: "example.com/v2", outcomes: [good], want: undefined },
  ])("measure conversions $name", async ({ from, outcomes, want }) => {
    const registry = new MetricsRegistry();
    const converter = { now: () => undefined, convert: async () => outcomes, close: () => {} };
    const { measured } = conversionMetrics(registry, new VirtualClock());
    await measured("widgets.example.com", converter).convert([{ apiVersion: from }], "example.com/v2");
    const counts = registry.text().match(/^apiserver_crd_conversion_webhook_duration_seconds_count.*$/gm);
    const labels = `crd_name="widgets.example.com",from_version="v1",to_version="v2",succeeded="${want}"`;
    expect(counts ?? []).toEqual(
      want === undefined ? [] : [`apiserver_crd_conversion_webhook_duration_seconds_count{${labels}} 1`],
    );
  });
});
