/** Metrics of impersonation, under Kubernetes' names. */
import { andThen, type Clock, type MetricsRegistry } from "#base";
import type { Authorizer } from "../authz/authorizer.ts";
import type { ModeName } from "./impersonation-modes.ts";

const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

export interface ImpersonationMetrics {
  now(): number;
  /** A request in another's name was allowed by this mode, or refused: then the mode is the first that was tried. */
  attempted(mode: ModeName, isAllowed: boolean, startMs: number): void;
  /** The authorizer, whose questions are counted for a mode. */
  asking(authorize: Authorizer, mode: ModeName): Authorizer;
}

export function impersonationMetrics(metrics: MetricsRegistry, clock: Clock): ImpersonationMetrics {
  const family = (what: string, of: string) => {
    const name = `apiserver_impersonation_${what}`;
    const common = { labels: ["mode", "decision"] as const, stability: "ALPHA" as const };
    return {
      total: metrics.counter({ name: `${name}_total`, help: `${of}, by mode and decision.`, ...common }),
      seconds: metrics.histogram({
        name: `${name}_duration_seconds`,
        help: `How long each took: ${of}, by mode and decision.`,
        buckets: BUCKETS,
        ...common,
      }),
    };
  };
  const attempts = family("attempts", "requests in the name of another user");
  const questions = family("authorization_attempts", "questions about them to the authorizer");
  const record = ({ total, seconds }: typeof attempts, mode: ModeName, isAllowed: boolean, startMs: number) => {
    const decision = isAllowed ? "allowed" : "denied";
    total.labels(mode, decision).inc();
    seconds.labels(mode, decision).observe((clock.monotonic() - startMs) / 1000);
  };
  return {
    now: () => clock.monotonic(),
    attempted: (mode, isAllowed, startMs) => record(attempts, mode, isAllowed, startMs),
    asking: (authorize, mode) => (attributes) => {
      const startMs = clock.monotonic();
      return andThen(authorize(attributes), (verdict) => {
        record(questions, mode, verdict.decision === "allow", startMs);
        return verdict;
      });
    },
  };
}
