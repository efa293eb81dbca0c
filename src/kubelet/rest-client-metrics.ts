/**
 * rest_client_*: the kubelet's requests to the API server, measured around its transport.
 *
 * 1. A response is counted with its head: watches go on for long.
 * 2. Requests that got no response count with the code `<error>`, as client-go has it.
 */
import { writeJson } from "#api";
import type { Clock, MetricsRegistry } from "#base";
import type { Transport } from "#client";

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const BYTES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export function measuredTransport<T extends Transport>(
  transport: T,
  { metrics, clock, host }: { readonly metrics: MetricsRegistry; readonly clock: Clock; readonly host: string },
): T {
  const total = metrics.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labels: ["code", "host", "method"],
  });
  const duration = metrics.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb, and host.",
    labels: ["host", "verb"],
    buckets: SECONDS,
  });
  const sent = metrics.histogram({
    name: "rest_client_request_size_bytes",
    help: "Request size in bytes. Broken down by verb and host.",
    labels: ["host", "verb"],
    buckets: BYTES,
  });
  const received = metrics.histogram({
    name: "rest_client_response_size_bytes",
    help: "Response size in bytes, where the server says it. Broken down by verb and host.",
    labels: ["host", "verb"],
    buckets: BYTES,
  });
  return {
    ...transport,
    async send({ value, ...given }) {
      // Encoded here, once, to know its size.
      const request = value === undefined ? given : { ...given, body: writeJson(value) };
      const { method, body = "" } = request;
      const startMs = clock.monotonic();
      sent.labels(host, method).observe(Buffer.byteLength(body));
      try {
        const response = await transport.send(request);
        total.labels(String(response.status), host, method).inc();
        const length = response.headers["content-length"];
        if (length !== undefined) received.labels(host, method).observe(Number(length));
        return response;
      } catch (error) {
        if (!request.ending.aborted) total.labels("<error>", host, method).inc();
        throw error;
      } finally {
        duration.labels(host, method).observe((clock.monotonic() - startMs) / 1000);
      }
    },
  };
}
