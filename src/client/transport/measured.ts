/**
 * A transport whose requests are measured, under the names that dashboards know from client-go.
 *
 * 1. A watch takes until its answer begins.
 * 2. Sizes of answers are those that the server announces: answers without an announced size are not observed.
 */
import type { Clock, MetricsRegistry } from "#base";
import { bodyOf, type Transport } from "./transport.ts";

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export interface ClientMetrics {
  of(transport: Transport, server: string): Transport;
}

/** Once for each registry. */
export function clientMetrics(registry: MetricsRegistry, clock: Clock): ClientMetrics {
  const total = registry.counter({
    name: "rest_client_requests_total",
    help: "Requests of this client, by the code of the answer; <error>: there was none.",
    labels: ["code", "method", "host"],
    stability: "ALPHA",
  });
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    registry.histogram({
      name: `rest_client_${name}`,
      help,
      labels: ["verb", "host"],
      buckets,
      stability: "ALPHA",
    });
  const seconds = histogram("request_duration_seconds", "How long requests took.", DURATION_BUCKETS);
  const sent = histogram("request_size_bytes", "Bytes of the bodies of requests.", SIZE_BUCKETS);
  const received = histogram("response_size_bytes", "Bytes of answers, as the server announces them.", SIZE_BUCKETS);
  return {
    of: (transport, server) => {
      const { host } = new URL(server);
      return {
        send: async (request) => {
          const { method } = request;
          const startMs = clock.monotonic();
          const body = bodyOf(request);
          let code = "<error>";
          try {
            const response = await transport.send({ ...request, body, value: undefined });
            code = String(response.status);
            const bytes = Number(response.headers["content-length"]);
            if (Number.isFinite(bytes)) received.labels(method, host).observe(bytes);
            return response;
          } finally {
            total.labels(code, method, host).inc();
            seconds.labels(method, host).observe((clock.monotonic() - startMs) / 1000);
            sent.labels(method, host).observe(body === undefined ? 0 : Buffer.byteLength(body));
          }
        },
        close: () => transport.close(),
      };
    },
  };
}
