/** The metrics of requests, under the names, labels and buckets that dashboards know. */
import type { MetricsRegistry } from "#base";

const DURATION_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const SIZE_BUCKETS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const BODY_BUCKETS = [50_000, ...Array.from({ length: 31 }, (_, i) => 100_000 * (i + 1))];
const ABOUT = ["verb", "group", "version", "resource", "subresource", "scope", "component"] as const;
const DRY = ["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"] as const;

/** The values of `ABOUT`. */
export type About = readonly [string, string, string, string, string, string, string];

export type RequestFamilies = ReturnType<typeof requestFamilies>;

export function requestFamilies(metrics: MetricsRegistry) {
  return {
    total: metrics.counter({
      name: "apiserver_request_total",
      help: "Requests that were answered, by verb, resource and HTTP code.",
      labels: [...DRY, "code"],
      stability: "STABLE",
    }),
    durations: metrics.histogram({
      name: "apiserver_request_duration_seconds",
      help: "How long requests took, by verb and resource. A watch takes until it ends.",
      labels: DRY,
      buckets: DURATION_BUCKETS,
      stability: "STABLE",
    }),
    ownDurations: metrics.histogram({
      name: "apiserver_request_sli_duration_seconds",
      help: "The same without watches, and without the time that webhooks took or that requests waited in queues.",
      labels: ABOUT,
      buckets: DURATION_BUCKETS,
      stability: "ALPHA",
    }),
    sizes: metrics.histogram({
      name: "apiserver_response_sizes",
      help: "Bytes of answers to get and list. Answers to components of this process have no bytes.",
      labels: ABOUT,
      buckets: SIZE_BUCKETS,
      stability: "STABLE",
    }),
    bodies: metrics.histogram({
      name: "apiserver_request_body_size_bytes",
      help: "Bytes of the bodies of requests that were read. Components of this process send none.",
      labels: ["resource", "verb", "group"],
      buckets: BODY_BUCKETS,
      stability: "ALPHA",
    }),
    open: metrics.gauge({
      name: "apiserver_longrunning_requests",
      help: "Long-running requests, such as watches, that are open now.",
      labels: ABOUT,
      stability: "STABLE",
    }),
    deprecated: metrics.gauge({
      name: "apiserver_requested_deprecated_apis",
      help: "Deprecated APIs that have been requested, and the release in which they are removed.",
      labels: ["group", "version", "resource", "subresource", "removed_release"],
      stability: "STABLE",
    }),
    own: metrics.counter({
      name: "apiserver_selfrequest_total",
      help: "Requests of this server to itself.",
      labels: ["verb", "group", "resource", "subresource"],
      stability: "ALPHA",
    }),
    ended: metrics.counter({
      name: "apiserver_request_terminations_total",
      help: "Requests that the server ended to protect itself: after their time, or because there were too many.",
      labels: [...ABOUT, "code"],
      stability: "ALPHA",
    }),
    fieldValidation: metrics.histogram({
      name: "field_validation_request_duration_seconds",
      help: "How long writes took, by what they ask to do with unknown fields.",
      labels: ["field_validation"],
      buckets: DURATION_BUCKETS,
      stability: "ALPHA",
    }),
    // Kubernetes validates objects twice and compares. Here is one validation, which agrees with itself: both stay 0.
    mismatches: metrics.counter({
      name: "apiserver_validation_declarative_validation_mismatch_total",
      help: "Objects about which declarative and handwritten validation disagreed. There is one validation here.",
      stability: "BETA",
    }),
    panics: metrics.counter({
      name: "apiserver_validation_declarative_validation_panic_total",
      help: "Failures of declarative validation where the handwritten one went on. There is one validation here.",
      stability: "BETA",
    }),
  };
}
