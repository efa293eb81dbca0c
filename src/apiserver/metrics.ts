/** Request metrics under the names that dashboards know, counted where every request passes. */
import type { Clock, MetricsRegistry } from "#base";
import { type ApiResponse, isStream } from "./http/exchange.ts";
import type { RequestInfo } from "./http/request-info.ts";
import type { Step } from "./pipeline.ts";

const DURATION_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

export function requestMetrics(metrics: MetricsRegistry, clock: Clock): Step {
  const total = metrics.counter({
    name: "apiserver_request_total",
    help: "Requests answered, by verb, resource and HTTP code.",
    labels: ["verb", "group", "version", "resource", "subresource", "scope", "code"],
  });
  const duration = metrics.histogram({
    name: "apiserver_request_duration_seconds",
    help: "How long requests took until they were answered, watches left out.",
    labels: ["verb", "group", "version", "resource", "subresource", "scope"],
    buckets: DURATION_BUCKETS,
  });
  const watches = metrics.gauge({
    name: "apiserver_longrunning_requests",
    help: "Watches that are open now.",
    labels: ["verb", "group", "version", "resource"],
  });
  return async ({ info }, next) => {
    const start = clock.monotonic();
    const { apiGroup, apiVersion, resource, subresource } = info;
    const verb = info.verb.toUpperCase();
    const count = (code: number) =>
      total.labels(verb, apiGroup, apiVersion, resource, subresource, scopeOf(info), String(code)).inc();
    let response: ApiResponse;
    try {
      response = await next();
    } catch (error) {
      count(500);
      throw error;
    }
    count(response.status);
    if (!isStream(response)) {
      duration
        .labels(verb, apiGroup, apiVersion, resource, subresource, scopeOf(info))
        .observe((clock.monotonic() - start) / 1000);
      return response;
    }
    const open = watches.labels(verb, apiGroup, apiVersion, resource);
    return {
      ...response,
      stream: async (sink) => {
        open.inc();
        try {
          await response.stream(sink);
        } finally {
          open.dec();
        }
      },
    };
  };
}

function scopeOf({ isResourceRequest, name, namespace }: RequestInfo): string {
  if (!isResourceRequest) return "";
  if (name !== "") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}
