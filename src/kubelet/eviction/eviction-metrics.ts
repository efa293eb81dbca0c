/** Metrics of evictions by the signal that caused them. */
import type { MetricsRegistry } from "#base";
import { SECONDS } from "../runtime/buckets.ts";

export interface EvictionMetrics {
  /** `signal`: memory.available, nodefs.available, emptydirfs.limit, … */
  evicted(signal: string): void;
  /** How old the figures were that led to an eviction. */
  statsAge(signal: string, seconds: number): void;
}

export function evictionMetrics(metrics: MetricsRegistry): EvictionMetrics {
  const evictions = metrics.counter({
    name: "kubelet_evictions",
    help: "Cumulative number of pod evictions by eviction signal",
    labels: ["eviction_signal"],
  });
  const age = metrics.histogram({
    name: "kubelet_eviction_stats_age_seconds",
    help: "Time between when stats are collected, and when pod is evicted based on those stats by eviction signal",
    labels: ["eviction_signal"],
    buckets: SECONDS,
  });
  return {
    evicted: (signal) => evictions.labels(signal).inc(),
    statsAge: (signal, seconds) => age.labels(signal).observe(seconds),
  };
}
