/**
 * Metrics of authentication, under Kubernetes' names.
 *
 * 1. Samples that every request needs are looked up once.
 * 2. No metric has the name of a user or an issuer: names are sorted into a few, issuers are hashed.
 */
import { hash } from "node:crypto";
import type { Clock, Counter, MetricsRegistry } from "#base";

export type AuthenticationMetrics = ReturnType<typeof authenticationMetrics>;
export type TokenCacheMetrics = AuthenticationMetrics["tokenCache"];

const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const JWT_BUCKETS = [0.001, ...DEFAULT_BUCKETS];
const HOUR = 3600;
const DAY = 24 * HOUR;
const EXPIRATION_BUCKETS = [
  ...[0, HOUR / 2, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR],
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * DAY),
];
const KNOWN_NAMES = ["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"];

export function authenticationMetrics(registry: MetricsRegistry, clock: Clock) {
  const since = (startMs: number) => (clock.monotonic() - startMs) / 1000;
  const attempts = registry.counter({
    name: "authentication_attempts",
    help: "Requests, by the result of authentication.",
    labels: ["result"],
    stability: "ALPHA",
  });
  const durations = registry.histogram({
    name: "authentication_duration_seconds",
    help: "How long authentication took, by result.",
    labels: ["result"],
    buckets: BUCKETS,
    stability: "ALPHA",
  });
  const users = registry.counter({
    name: "authenticated_user_requests",
    help: "Requests that were authenticated, by a few names of users, email_id and other.",
    labels: ["username"],
    stability: "ALPHA",
  });
  const jwt = registry.histogram({
    name: "apiserver_authentication_jwt_authenticator_latency_seconds",
    help: "How long the tokens of an OpenID provider took that were not remembered, by the hash of its URL.",
    labels: ["result", "jwt_issuer_hash"],
    buckets: JWT_BUCKETS,
    stability: "ALPHA",
  });
  const expiration = registry
    .histogram({
      name: "apiserver_client_certificate_expiration_seconds",
      help: "How long the certificates of clients are still valid, by request.",
      buckets: EXPIRATION_BUCKETS,
      stability: "ALPHA",
    })
    .labels();
  const result = (name: string) => ({ count: attempts.labels(name), seconds: durations.labels(name) });
  const results = { success: result("success"), failure: result("failure"), error: result("error") };
  const byName = new Map(KNOWN_NAMES.map((name) => [name, users.labels(name)]));
  const [mail, other] = [users.labels("email_id"), users.labels("other")];
  const userCounter = (name: string): Counter => byName.get(name) ?? (name.includes("@") ? mail : other);
  return {
    now: () => clock.monotonic(),
    /** `error`: an invalid credential; `failure`: none. */
    attempted(outcome: keyof typeof results, startMs: number, user?: string): void {
      const { count, seconds } = results[outcome];
      count.inc();
      seconds.observe(since(startMs));
      if (user !== undefined) userCounter(user).inc();
    },
    certificateSeen: (remainingMs: number): void => expiration.observe(remainingMs / 1000),
    accountTokens: accountTokenMetrics(registry),
    tokenCache: tokenCacheMetrics(registry, since),
    jwtAuthenticated(issuer: string, outcome: "success" | "failure", startMs: number): void {
      jwt.labels(outcome, `sha256:${hash("sha256", issuer, "hex")}`).observe(since(startMs));
    },
  };
}

export type AccountTokenMetrics = ReturnType<typeof accountTokenMetrics>;

function accountTokenMetrics(registry: MetricsRegistry) {
  const counter = (what: string, help: string) => {
    const sample = registry.counter({ name: `serviceaccount_${what}_total`, help, stability: "ALPHA" }).labels();
    return () => sample.inc();
  };
  return {
    /** Of tokens that are to be renewed before they expire. */
    stale: counter("stale_tokens", "Uses of tokens that should have been renewed."),
    valid: counter("valid_tokens", "Uses of tokens before they should be renewed."),
    legacy: counter("legacy_tokens", "Uses of tokens without an audience, from Secrets."),
    legacyGenerated: counter("legacy_auto_token_uses", "Uses of tokens in Secrets that were generated."),
    legacyManual: counter("legacy_manual_token_uses", "Uses of tokens in Secrets that somebody made."),
    legacyInvalid: counter("invalid_legacy_auto_token_uses", "Uses of generated tokens that were marked invalid."),
  };
}

function tokenCacheMetrics(registry: MetricsRegistry, since: (startMs: number) => number) {
  const start = "authentication_token_cache";
  const labels = ["status"] as const;
  const requests = registry.counter({
    name: `${start}_request_total`,
    help: "Tokens that were looked up among those that are remembered.",
    labels,
    stability: "ALPHA",
  });
  const durations = registry.histogram({
    name: `${start}_request_duration_seconds`,
    help: "How long tokens took, remembered or not.",
    labels,
    buckets: DEFAULT_BUCKETS,
    stability: "ALPHA",
  });
  const fetches = registry.counter({
    name: `${start}_fetch_total`,
    help: "Tokens that were not remembered, by how their authentication ended.",
    labels,
    stability: "ALPHA",
  });
  const active = registry.gauge({
    name: `${start}_active_fetch_count`,
    help: "Tokens that are being authenticated now, and requests that wait for the same token.",
    labels,
    stability: "ALPHA",
  });
  const [hits, misses] = ["hit", "miss"].map((status) => ({
    count: requests.labels(status),
    seconds: durations.labels(status),
  }));
  return {
    requested(isHit: boolean, startMs: number): void {
      const sample = isHit ? hits : misses;
      sample?.count.inc();
      sample?.seconds.observe(since(startMs));
    },
    inFlight: active.labels("in_flight"),
    blocked: active.labels("blocked"),
    fetched: (isKnown: boolean): void => fetches.labels(isKnown ? "ok" : "error").inc(),
  };
}
