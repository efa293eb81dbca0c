/**
 * Metrics of kube-proxy, under its names, and what its health follows from.
 *
 * 1. Changes are pending from their arrival until the kernel has them.
 * 2. How long the network took to follow is measured from the time that the change of endpoints notes, for changes that
 *    came after the start.
 */
import type { discovery } from "#api";
import type { Clock, MetricsRegistry } from "#base";

const SYNC_BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const range = (from: number, to: number, step: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
const PROGRAMMING_BUCKETS = [0.25, 0.5, ...range(1, 59, 1), ...range(60, 115, 5), ...range(120, 300, 30)];
const TRIGGERED = "endpoints.kubernetes.io/last-change-trigger-time";
const START = "kubeproxy_sync_proxy_rules_";
/** Twice the usual time between tries. */
const STALE_MS = 60_000;

export interface ProxyHealth {
  readonly isHealthy: boolean;
  /** Milliseconds since the epoch; undefined before the first application. */
  readonly lastUpdatedMs: number | undefined;
}

export class ProxyMetrics {
  readonly #clock: Clock;
  readonly #families: ReturnType<typeof families>;
  /** Since when each changed Service waits, by the times that its endpoints note. */
  readonly #triggered = new Map<string, number[]>();
  #services = 0;
  #endpoints = 0;
  #pendingSinceMs: number | undefined;
  #lastUpdatedMs: number | undefined;

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock;
    this.#families = families(registry);
    registry.collect(() => {
      this.#families.servicesPending.set(this.#services);
      this.#families.endpointsPending.set(this.#endpoints);
    });
  }

  serviceChanged(): void {
    this.#services++;
    this.#families.servicesTotal.inc();
    this.#queued();
  }

  /** `key`: of the Service. */
  endpointsChanged(key: string, { metadata }: discovery.EndpointSlice): void {
    this.#endpoints++;
    this.#families.endpointsTotal.inc();
    this.#queued();
    const at = Date.parse(metadata.annotations?.[TRIGGERED] ?? "");
    if (Number.isNaN(at)) return;
    const times = this.#triggered.get(key) ?? [];
    times.push(at);
    this.#triggered.set(key, times);
  }

  /** Begins to bring changes to the kernel. The function returned is called with the Services that it has now. */
  begin(whole: boolean): (keys: readonly string[]) => void {
    const startMs = this.#clock.monotonic();
    const { durations, whole: all, partial, programming, lastSync } = this.#families;
    const pending = { services: this.#services, endpoints: this.#endpoints };
    return (keys) => {
      const seconds = (this.#clock.monotonic() - startMs) / 1000;
      for (const histogram of [durations, whole ? all : partial]) histogram.observe(seconds);
      const now = this.#clock.now();
      for (const key of keys) {
        for (const at of this.#triggered.get(key) ?? []) programming.observe(Math.max(0, now - at) / 1000);
        this.#triggered.delete(key);
      }
      this.#services -= pending.services;
      this.#endpoints -= pending.endpoints;
      this.#pendingSinceMs = this.#services + this.#endpoints === 0 ? undefined : this.#clock.monotonic();
      this.#lastUpdatedMs = now;
      lastSync.set(now / 1000);
    };
  }

  get health(): ProxyHealth {
    const waitingMs = this.#pendingSinceMs === undefined ? 0 : this.#clock.monotonic() - this.#pendingSinceMs;
    return {
      isHealthy: this.#lastUpdatedMs !== undefined && waitingMs < STALE_MS,
      lastUpdatedMs: this.#lastUpdatedMs,
    };
  }

  #queued(): void {
    this.#pendingSinceMs ??= this.#clock.monotonic();
    this.#families.lastQueued.set(this.#clock.now() / 1000);
  }
}

function families(registry: MetricsRegistry) {
  const stability = "ALPHA";
  const counter = (name: string, help: string) => registry.counter({ name: START + name, help, stability }).labels();
  const gauge = (name: string, help: string) => registry.gauge({ name: START + name, help, stability }).labels();
  const histogram = (name: string, help: string, buckets: readonly number[] = SYNC_BUCKETS) =>
    registry.histogram({ name, help, buckets, stability }).labels();
  return {
    durations: histogram(`${START}duration_seconds`, "How long it took to apply changes to the kernel."),
    whole: histogram("kubeproxy_sync_full_proxy_rules_duration_seconds", "The same, where all rules were compared."),
    partial: histogram(
      "kubeproxy_sync_partial_proxy_rules_duration_seconds",
      "The same, where only changed Services were applied.",
    ),
    programming: histogram(
      "kubeproxy_network_programming_duration_seconds",
      "From a change of Pods or Services until the kernel of this node follows it.",
      PROGRAMMING_BUCKETS,
    ),
    lastSync: gauge("last_timestamp_seconds", "When changes were last applied, in seconds since the epoch."),
    lastQueued: gauge("last_queued_timestamp_seconds", "When a change last arrived, in seconds since the epoch."),
    servicesPending: gauge("service_changes_pending", "Changes of Services that have not been applied."),
    servicesTotal: counter("service_changes_total", "Changes of Services."),
    endpointsPending: gauge("endpoint_changes_pending", "Changes of EndpointSlices that have not been applied."),
    endpointsTotal: counter("endpoint_changes_total", "Changes of EndpointSlices."),
  };
}
