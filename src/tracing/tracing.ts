/**
 * Tracing of a process: what its components share.
 *
 *     Tracer (apiserver) ──┐
 *     Tracer (scheduler) ──┼──► BatchExporter ──► collector
 *     Tracer (kubelet)   ──┘        RevisionSpans: which span wrote a revision
 */
import { type Clock, isAbort, type Logger, type MetricsRegistry, type Random, TaskGroup, timeOfDay } from "#base";
import { BatchExporter, type SpanCounts } from "./batch-exporter.ts";
import { DEFAULT_ENDPOINT, endpointOf } from "./endpoint.ts";
import { Ids } from "./ids.ts";
import { RevisionSpans } from "./revision-spans.ts";
import { ratioSampler, type Sampler } from "./sampling.ts";
import { openSender } from "./sender.ts";
import type { TracingSettings } from "./settings.ts";
import type { Attributes } from "./span-data.ts";
import { Tracer } from "./tracer.ts";

export interface TracingOptions extends TracingSettings {
  readonly clock: Clock;
  /** Its own: ids must not change what others draw. */
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

const TICK_MS = 1000;

export class Tracing {
  readonly revisions = new RevisionSpans();
  readonly #exporter: BatchExporter;
  readonly #ids: Ids;
  readonly #sampler: Sampler;
  readonly #now: () => number;
  readonly #tracers = new Map<string, Tracer>();
  readonly #tasks: TaskGroup;

  private constructor(exporter: BatchExporter, { clock, random, samplingRatePerMillion = 0 }: TracingOptions) {
    const timeOf = timeOfDay(clock);
    this.#exporter = exporter;
    this.#ids = new Ids(random);
    this.#sampler = ratioSampler(samplingRatePerMillion);
    this.#now = () => timeOf(clock.monotonic());
    this.#tasks = new TaskGroup({});
    this.#tasks.run("trace exporter", (signal) => this.#run(clock, signal));
  }

  static async open(options: TracingOptions): Promise<Tracing> {
    const { endpoint = DEFAULT_ENDPOINT, clock, random, log, metrics } = options;
    const sender = await openSender(endpointOf(endpoint), clock);
    return new Tracing(new BatchExporter({ sender, clock, random, log, counts: spanCounts(metrics) }), options);
  }

  /** Always the same for a service. `attributes`: besides `service.name`. */
  tracer(service: string, attributes: Attributes = {}): Tracer {
    const known = this.#tracers.get(service);
    if (known !== undefined) return known;
    const scope = {
      ids: this.#ids,
      resource: { attributes: { "service.name": service, ...attributes } },
      sink: this.#exporter,
      now: this.#now,
    };
    const tracer = new Tracer({ scope, revisions: this.revisions, sampler: this.#sampler });
    this.#tracers.set(service, tracer);
    return tracer;
  }

  /** Ends the works that have ended, and resolves when all finished spans have been sent. */
  async flush(): Promise<void> {
    for (const tracer of this.#tracers.values()) tracer.works.sweep(true);
    await this.#exporter.flush();
  }

  async close(): Promise<void> {
    await this.#tasks.stop();
    for (const tracer of this.#tracers.values()) tracer.works.sweep(true);
    await this.#exporter.close();
  }

  async #run(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await clock.sleep(TICK_MS, signal);
      } catch (error) {
        if (!isAbort(error, signal)) throw error;
        return;
      }
      for (const tracer of this.#tracers.values()) tracer.works.sweep();
      this.#exporter.tick();
    }
  }
}

function spanCounts(metrics: MetricsRegistry): SpanCounts {
  const spans = metrics.counter({
    name: "k8ts_trace_spans_total",
    help: "Finished spans of sampled traces, by what became of them.",
    labels: ["result"],
  });
  return {
    exported: spans.labels("exported"),
    dropped: spans.labels("dropped"),
    failed: spans.labels("failed"),
  };
}
