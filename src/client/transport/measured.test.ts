import { expect, it } from "vitest";
import { MetricsRegistry, VirtualClock } from "#base";
import { clientMetrics } from "./measured.ts";
import type { Transport, TransportRequest } from "./transport.ts";

it("counts requests by their answers, and measures what was sent", async () => {
  const [registry, clock] = [new MetricsRegistry(), new VirtualClock()];
  const bodies: (string | undefined)[] = [];
  const inner: Transport = {
    send: async ({ method, body, value }) => {
      expect(value).toBeUndefined();
      bodies.push(body);
      if (method === "DELETE") throw new Error("gone");
      return {
        status: method === "POST" ? 201 : 200,
        headers: { "content-length": "300" },
        body: (async function* () {})(),
      };
    },
    close: async () => {},
  };
  const transport = clientMetrics(registry, clock).of(inner, "https://10.0.0.1:6443");
  const ending = new AbortController().signal as unknown as TransportRequest["ending"];
  const request = { target: "/api/v1/pods", headers: {}, ending };
  await transport.send({ ...request, method: "GET" });
  await transport.send({ ...request, method: "POST", value: { kind: "Pod" } });
  await expect(transport.send({ ...request, method: "DELETE" })).rejects.toThrow("gone");
  expect(bodies).toEqual([undefined, '{"kind":"Pod"}', undefined]);
  const text = registry.text();
  for (const line of [
    'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:6443"} 1',
    'rest_client_requests_total{code="201",method="POST",host="10.0.0.1:6443"} 1',
    'rest_client_requests_total{code="<error>",method="DELETE",host="10.0.0.1:6443"} 1',
    'rest_client_request_size_bytes_sum{verb="POST",host="10.0.0.1:6443"} 14',
    'rest_client_response_size_bytes_count{verb="POST",host="10.0.0.1:6443"} 1',
    'rest_client_request_duration_seconds_count{verb="DELETE",host="10.0.0.1:6443"} 1',
  ])
    expect(text).toContain(line);
});
