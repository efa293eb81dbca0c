/**
 * The step `count`: metrics of requests, and the observer's view of them.
 *
 * 1. Requests with the same labels share their samples, which are looked up once: counting is a few additions.
 * 2. What is rare (dry runs, deprecated APIs, requests that were ended) is looked up when it happens.
 */
import { type Clock, type Counter, type Gauge, type Histogram, type MetricsRegistry, settle, table } from "#base";
import { type ApiResponse, isStream, type StreamResponse, type WholeResponse } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { isWriting } from "../http/verbs.ts";
import type { Step } from "./compose.ts";
import type { Authenticated } from "./exchange.ts";
import { type About, type RequestFamilies, requestFamilies } from "./request-families.ts";

/** Sees requests as they are measured, with the same readings of the clock. */
export interface RequestObserver {
  /** `startMs`: monotonic. */
  begins(exchange: Authenticated, startMs: number): void;
  /** A stream is about to begin. Unexpected errors are not reported here. */
  answered(exchange: Authenticated, response: ApiResponse, startMs: number, tookMs: number): void;
}

/** The warning of a deprecated API; undefined for all others. */
export type DeprecationOf = (group: string, version: string, resource: string) => string | undefined;

const COMPONENT = "apiserver";
const OWN_USER = "system:apiserver";
const METHODS: Readonly<Record<string, string>> = table({ create: "POST", update: "PUT" });
/** Subresources that connect the client with a container or a Service. */
const CONNECTS = new Set(["attach", "exec", "portforward", "proxy"]);
const APPLY = "application/apply-patch+";
const FIELD_VALIDATIONS = ["", "Ignore", "Warn", "Strict"];
const TOO_MANY_REQUESTS = 429;
const TIMED_OUT = 504;

/** The samples of requests with the same labels. */
class RequestSamples {
  readonly #families: RequestFamilies;
  readonly #about: About;
  readonly #ofCode: (code: number) => Counter;
  readonly #codes = new Map<number, Counter>();
  readonly duration: Histogram;
  #ownDuration: Histogram | undefined;
  #size: Histogram | undefined;
  #open: Gauge | undefined;

  constructor(families: RequestFamilies, about: About, dryRun: string) {
    this.#families = families;
    this.#about = about;
    const [verb, ...rest] = about;
    this.duration = families.durations.labels(verb, dryRun, ...rest);
    this.#ofCode = (code) => families.total.labels(verb, dryRun, ...rest, String(code));
  }

  get ownDuration(): Histogram {
    this.#ownDuration ??= this.#families.ownDurations.labels(...this.#about);
    return this.#ownDuration;
  }

  get size(): Histogram {
    this.#size ??= this.#families.sizes.labels(...this.#about);
    return this.#size;
  }

  get open(): Gauge {
    this.#open ??= this.#families.open.labels(...this.#about);
    return this.#open;
  }

  code(code: number): Counter {
    let counter = this.#codes.get(code);
    if (counter === undefined) {
      counter = this.#ofCode(code);
      this.#codes.set(code, counter);
    }
    return counter;
  }

  ended(code: number): void {
    this.#families.ended.labels(...this.#about, String(code)).inc();
  }
}

export function requestMetrics(
  metrics: MetricsRegistry,
  clock: Clock,
  observer?: RequestObserver,
  deprecationOf: DeprecationOf = () => undefined,
): Step<Authenticated> {
  const families = requestFamilies(metrics);
  const validations = new Map(FIELD_VALIDATIONS.map((value) => [value, families.fieldValidation.labels(value)]));
  const about = (exchange: Authenticated): RequestSamples => {
    const { info, original } = exchange;
    const { apiGroup, apiVersion, resource, subresource, isResourceRequest } = info;
    const deprecation = isResourceRequest ? deprecationOf(apiGroup, apiVersion, resource) : undefined;
    if (deprecation !== undefined) {
      const removed = /unavailable in v([\d.]+)\+/.exec(deprecation)?.[1] ?? "";
      families.deprecated.labels(apiGroup, apiVersion, resource, subresource, removed).set(1);
    }
    const labels: About = [
      verbOf(info, original.headers["content-type"]),
      ...([apiGroup, apiVersion, resource, isResourceRequest ? subresource : healthPath(info), scopeOf(info)] as const),
      COMPONENT,
    ];
    return new RequestSamples(families, labels, dryRunOf(exchange));
  };
  const known = new WeakMap<object, RequestSamples>();
  const samplesOf = (exchange: Authenticated): RequestSamples => {
    const { topic, verb } = exchange.info;
    // An apply is a patch by its content type only.
    if (topic === undefined || verb === "patch") return about(exchange);
    let samples = known.get(topic);
    if (samples === undefined) {
      samples = about(exchange);
      known.set(topic, samples);
    }
    return samples;
  };
  const selfRequest = (info: RequestInfo): void =>
    families.own.labels(verbOf(info), info.apiGroup, info.resource, info.subresource).inc();
  const answered = (exchange: Authenticated, samples: RequestSamples, startMs: number, response: ApiResponse) => {
    const { status } = response;
    samples.code(status).inc();
    if (status === TOO_MANY_REQUESTS || status === TIMED_OUT) samples.ended(status);
    const tookMs = clock.monotonic() - startMs;
    observer?.answered(exchange, response, startMs, tookMs);
    if (exchange.user.name === OWN_USER) selfRequest(exchange.info);
    if (isStream(response)) return counted(response, samples, exchange.info, startMs);
    samples.duration.observe(tookMs / 1000);
    if (!isLongRunning(exchange.info)) samples.ownDuration.observe((tookMs - exchange.waitedMs) / 1000);
    const { info, bodyBytes } = exchange;
    if (bodyBytes > 0) families.bodies.labels(info.resource, info.verb, info.apiGroup).observe(bodyBytes);
    if (isWriting(info.verb)) {
      const { query } = exchange.original;
      const asked = query.size === 0 ? "" : (query.get("fieldValidation") ?? "");
      (validations.get(asked) ?? families.fieldValidation.labels("invalid")).observe(tookMs / 1000);
    } else if (exchange.original.remoteAddress !== undefined && info.isResourceRequest)
      samples.size.observe(bytesOf(response));
    return response;
  };
  const counted = (
    response: StreamResponse,
    samples: RequestSamples,
    info: RequestInfo,
    startMs: number,
  ): ApiResponse => {
    const open = isLongRunning(info) ? samples.open : undefined;
    return {
      ...response,
      stream: async (sink) => {
        open?.inc();
        try {
          await response.stream(sink);
        } finally {
          open?.dec();
          samples.duration.observe((clock.monotonic() - startMs) / 1000);
        }
      },
    };
  };
  return (exchange, next) => {
    const startMs = clock.monotonic();
    observer?.begins(exchange, startMs);
    const samples = samplesOf(exchange);
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

/** The HTTP method, where it says what is done; else the verb. */
export function verbOf({ verb, subresource, isResourceRequest }: RequestInfo, contentType = ""): string {
  if (isResourceRequest && CONNECTS.has(subresource)) return "CONNECT";
  if (verb === "patch" && contentType.startsWith(APPLY)) return "APPLY";
  return METHODS[verb] ?? verb.toUpperCase();
}

/** A path that says nothing about a resource is counted by its endpoint only where that is a health check. */
function healthPath({ path }: RequestInfo): string {
  return /^\/(healthz|livez|readyz)(?=\/|$)/.exec(path)?.[0] ?? "";
}

export function scopeOf({ isResourceRequest, name, namespace, verb }: RequestInfo): string {
  if (!isResourceRequest) return "";
  if (name !== "" || verb === "create") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

function dryRunOf({ original: { query }, info: { verb } }: Authenticated): string {
  if (query.size === 0 || !isWriting(verb)) return "";
  const asked = query.getAll("dryRun").filter((value) => value !== "");
  if (asked.length === 0) return "";
  return asked.every((value) => value === "All") ? "All" : "invalid";
}

function bytesOf({ body }: WholeResponse): number {
  let bytes = 0;
  for (const part of body) bytes += part.length;
  return bytes;
}
