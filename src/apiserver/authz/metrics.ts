/** Metrics of decisions and their duration, under Kubernetes' names. */
import { andThen, type Clock, type MetricsRegistry } from "#base";
import type { Authorizer } from "./authorizer.ts";
import type { Decided } from "./chain.ts";
import type { Verdict } from "./verdict.ts";

const RESULTS = { allow: "allowed", deny: "denied", noOpinion: "no-opinion" } as const;
const BUCKETS = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384,
];

/** Counts the decisions of each mode. */
export function countDecisions(metrics: MetricsRegistry): Decided {
  const decisions = metrics.counter({
    name: "apiserver_authorization_decisions_total",
    help: "Decisions of authorizers that ended the chain, by type, name and decision.",
    labels: ["type", "name", "decision"],
    stability: "ALPHA",
  });
  return ({ type, name }, { decision }) => decisions.labels(type, name, RESULTS[decision]).inc();
}

/** Measures each decision of the whole chain. */
export function measured(authorize: Authorizer, metrics: MetricsRegistry, clock: Clock): Authorizer {
  const attempts = metrics.counter({
    name: "authorization_attempts_total",
    help: "Requests that were authorized, by result.",
    labels: ["result"],
    stability: "ALPHA",
  });
  const seconds = metrics.histogram({
    name: "authorization_duration_seconds",
    help: "How long authorization took, by result.",
    labels: ["result"],
    stability: "ALPHA",
    buckets: BUCKETS,
  });
  const samples = (result: string) => ({ attempt: attempts.labels(result), seconds: seconds.labels(result) });
  const of = {
    allow: samples("allowed"),
    deny: samples("denied"),
    noOpinion: samples("no-opinion"),
    error: samples("error"),
  };
  const record = (verdict: Verdict, start: number): Verdict => {
    const sample = of[verdict.error === undefined || verdict.decision === "allow" ? verdict.decision : "error"];
    sample.attempt.inc();
    sample.seconds.observe((clock.monotonic() - start) / 1000);
    return verdict;
  };
  return (attributes) => {
    const start = clock.monotonic();
    return andThen(authorize(attributes), (verdict) => record(verdict, start));
  };
}
