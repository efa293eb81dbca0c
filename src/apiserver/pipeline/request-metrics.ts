/** The step `count`: request metrics under the names that dashboards know. */
import { type Clock, type Counter, type Histogram, type MetricsRegistry, settle } from "#base";
import { type ApiResponse, isStream, type StreamResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Step } from "./compose.ts";
import type { Authenticated } from "./exchange.ts";

const DURATION_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** Sees requests as they are measured, with the same readings of the clock. */
export interface RequestObserver {
  /** `startMs`: monotonic. */
  begins(exchange: Authenticated, startMs: number): void;
  /** A stream is about to begin. Unexpected errors are not reported here. */
  answered(exchange: Authenticated, response: ApiResponse, startMs: number, tookMs: number): void;
}

/** The counters of requests with the same labels, looked up once for all of them. */
class RequestSamples {
  readonly #durations: () => Histogram;
  #duration: Histogram | undefined;
  readonly #ofCode: (code: number) => Counter;
  readonly #codes = new Map<number, Counter>();

  constructor(durations: () => Histogram, ofCode: (code: number) => Counter) {
    this.#durations = durations;
    this.#ofCode = ofCode;
  }

  /** Watches have no duration. */
  get duration(): Histogram {
    this.#duration ??= this.#durations();
    return this.#duration;
  }

  code(code: number): Counter {
    let counter = this.#codes.get(code);
    if (counter === undefined) {
      counter = this.#ofCode(code);
      this.#codes.set(code, counter);
    }
    return counter;
  }
}

export function requestMetrics(
  metrics: MetricsRegistry,
  clock: Clock,
  observer?: RequestObserver,
): Step<Authenticated> {
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
  const about = (info: RequestInfo): RequestSamples => {
    const { apiGroup, apiVersion, resource, subresource } = info;
    const labels = [info.verb.toUpperCase(), apiGroup, apiVersion, resource, subresource, scopeOf(info)] as const;
    return new RequestSamples(
      () => duration.labels(...labels),
      (code) => total.labels(...labels, String(code)),
    );
  };
  const known = new WeakMap<object, RequestSamples>();
  const samplesOf = (info: RequestInfo): RequestSamples => {
    const { topic } = info;
    if (topic === undefined) return about(info);
    let samples = known.get(topic);
    if (samples === undefined) {
      samples = about(info);
      known.set(topic, samples);
    }
    return samples;
  };
  const answered = (exchange: Authenticated, samples: RequestSamples, startMs: number, response: ApiResponse) => {
    samples.code(response.status).inc();
    const tookMs = clock.monotonic() - startMs;
    observer?.answered(exchange, response, startMs, tookMs);
    if (isStream(response)) return counted(response, exchange.info);
    samples.duration.observe(tookMs / 1000);
    return response;
  };
  const counted = (response: StreamResponse, { verb, apiGroup, apiVersion, resource }: RequestInfo): ApiResponse => {
    const open = watches.labels(verb.toUpperCase(), apiGroup, apiVersion, resource);
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
  return (exchange, next) => {
    const startMs = clock.monotonic();
    observer?.begins(exchange, startMs);
    const samples = samplesOf(exchange.info);
    return settle(
      () => next(exchange),
      (response) => answered(exchange, samples, startMs, response),
      (error) => failed(samples, error),
    );
  };
}

function failed(samples: RequestSamples, error: unknown): never {
  samples.code(500).inc();
  throw error;
}

function scopeOf({ isResourceRequest, name, namespace }: RequestInfo): string {
  if (!isResourceRequest) return "";
  if (name !== "") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}
