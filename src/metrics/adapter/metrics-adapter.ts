/**
 * Custom and external metrics for autoscalers, from Prometheus and from a script, like prometheus-adapter.
 *
 *     Prometheus: series, again and again ───► metrics ──► discovery
 *     API server (APIServices) ──► answer ──► sources ──► values
 */
import { abortable, type Clock, isAbort, type Logger, TaskGroup } from "#base";
import type { Client } from "#client";
import type { MetricsAnswer, MetricsRequest } from "../api/answer.ts";
import { adapterApi } from "./answer.ts";
import type { AdapterConfig } from "./config.ts";
import type { PrometheusClient } from "./prometheus-client.ts";
import { PrometheusSource } from "./prometheus-source.ts";
import { Resources } from "./resources.ts";
import { ScriptedSource } from "./scripted.ts";
import type { MetricSource } from "./source.ts";

export const DEFAULT_RELIST_MS = 600_000;

export interface MetricsAdapterOptions {
  readonly client: Client;
  /** Asked for each time: the file may change. */
  readonly config: () => AdapterConfig;
  /** Needed by rules; undefined: scripted values only. */
  readonly prometheus: PrometheusClient | undefined;
  /** How often series are listed. */
  readonly relistMs?: number | undefined;
  /** How old a series may be. Default: as old as the list. */
  readonly maxAgeMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export class MetricsAdapter {
  readonly #options: MetricsAdapterOptions;
  readonly #resources: Resources;
  readonly #prometheus: PrometheusSource | undefined;
  readonly #sources: readonly MetricSource[];
  readonly #ending = new AbortController();
  readonly #answer: (request: MetricsRequest) => Promise<MetricsAnswer>;

  constructor(options: MetricsAdapterOptions) {
    const { client, config, prometheus, relistMs = DEFAULT_RELIST_MS, maxAgeMs = relistMs, clock, log } = options;
    this.#options = options;
    this.#resources = new Resources(client, clock);
    const resources = this.#resources;
    this.#prometheus = prometheus && new PrometheusSource({ prometheus, config, resources, clock, log, maxAgeMs });
    const scripted = new ScriptedSource(
      () => config().scripted,
      () => clock.now(),
    );
    this.#sources = this.#prometheus === undefined ? [scripted] : [scripted, this.#prometheus];
    const { signal } = this.#ending;
    this.#answer = adapterApi({ sources: this.#sources, resources, client, now: () => clock.now(), log, signal });
  }

  /** Whether its metrics are known. */
  get isReady(): boolean {
    return this.#prometheus?.isReady ?? true;
  }

  answer(request: MetricsRequest): Promise<MetricsAnswer> {
    return this.#answer(request);
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { relistMs = DEFAULT_RELIST_MS } = this.#options;
    const tasks = new TaskGroup({ parent: signal });
    const prometheus = this.#prometheus;
    if (prometheus !== undefined) tasks.run("series", (running) => prometheus.run(relistMs, running));
    tasks.run("end", async (running) => {
      await abortable(new Promise(() => {}), running).catch((error: unknown) => {
        if (!isAbort(error, running)) throw error;
      });
      this.#ending.abort(running.reason);
    });
    await tasks.done();
  }
}
