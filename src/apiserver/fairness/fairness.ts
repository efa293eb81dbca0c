/**
 * The composition of priority and fairness: its objects, its levels, the step of the pipeline, and its background
 * tasks.
 *
 *     flow schemas, priority levels --► configuration ◄── step ◄── requests
 *                                         ▲    └···► status of flow schemas
 *                every 10 s: seats lent and borrowed     every minute: mandatory and suggested objects ···► restored
 *
 * 1. A change of an object applies to requests that arrive after its write was answered.
 */
import type { flowcontrol, KubeObject } from "#api";
import { type Clock, type MetricsRegistry, nextTurn, TaskGroup } from "#base";
import { Ensure } from "../loopback/ensure.ts";
import { follow } from "../loopback/follow.ts";
import type { Step } from "../pipeline/compose.ts";
import type { Attributed } from "../pipeline/exchange.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { Configuration } from "./configuration.ts";
import { DanglingStatus, danglingCondition } from "./dangling.ts";
import { dump } from "./dumps.ts";
import { EventLoopBudget } from "./event-loop-budget.ts";
import { ensureObjects, FLOW_CONTROL, removeUnwanted } from "./kept-objects.ts";
import { inFlightGauges } from "./measures/in-flight-metrics.ts";
import { FairnessMetrics } from "./measures/metrics.ts";
import { fairnessStep, type ReadWriteRatios } from "./step.ts";
import { WatchCounts } from "./watch-counts.ts";
import { WorkEstimator } from "./work-estimate.ts";

/** The seats that may start in one turn of the event loop: some tenths of a millisecond of processor time. */
const SEATS_PER_TURN = 16;
const BORROWING_MS = 10_000;
const KEEPING_MS = 60_000;

export interface FairnessOptions {
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly metrics: MetricsRegistry;
  /** The seats of all levels together. */
  readonly total: number;
  readonly seatsPerTurn?: number;
}

export interface Fairness {
  readonly step: Step<Attributed>;
  /** The text of a path under /debug; undefined if there is none. */
  dump(path: string, query: URLSearchParams): string | undefined;
  /** Until the signal aborts: lends seats, restores objects and their status. */
  run(signal: AbortSignal): Promise<void>;
  /** Refuses waiting requests, and stops following objects. */
  close(): void;
}

export function fairness(options: FairnessOptions): Fairness {
  const { context, resources, total, seatsPerTurn = SEATS_PER_TURN } = options;
  const { clock, random, log } = context;
  const metrics = new FairnessMetrics(options.metrics);
  const objects = {
    levels: new Map<string, flowcontrol.PriorityLevelConfiguration>(),
    schemas: new Map<string, flowcontrol.FlowSchema>(),
  };
  let scheduled = false;
  /** Once for all changes of a turn, in a microtask: before the next turn starts. */
  const changed = () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(() => {
      scheduled = false;
      digest();
    });
  };
  const configuration = new Configuration({
    clock,
    total,
    metrics,
    budget: new EventLoopBudget(seatsPerTurn, nextTurn),
    onDone: changed,
  });
  const ensure = new Ensure(context, resources);
  const dangling = new DanglingStatus({
    ensure,
    wanted: (name) => {
      const schema = objects.schemas.get(name);
      return (
        schema && danglingCondition(schema, objects.levels.has(schema.spec?.priorityLevelConfiguration?.name ?? ""))
      );
    },
    clock,
    random,
    log,
  });
  const digest = () => {
    configuration.digest([...objects.levels.values()], [...objects.schemas.values()]);
    for (const name of objects.schemas.keys()) dangling.look(name);
  };
  const stops = [
    followInto(options, "prioritylevelconfigurations", objects.levels, changed),
    followInto(options, "flowschemas", objects.schemas, changed),
  ];
  digest();
  const readWrite = readWriteRatios(metrics, clock);
  const inFlight = inFlightGauges(options.metrics);
  stops.push(
    options.metrics.collect(() => {
      for (const level of configuration.levels) level.observe();
      const now = clock.monotonic();
      for (const phase of ["executing", "waiting"] as const) {
        for (const kind of ["readOnly", "mutating"] as const) {
          readWrite[phase][kind].advance(now);
          inFlight[phase][kind].set(readWrite[phase][kind].peak.at(now));
        }
      }
    }),
  );
  const watches = new WatchCounts();
  const estimator = new WorkEstimator(resources, watches);

  const lend = async (signal: AbortSignal) => {
    for (;;) {
      await clock.sleep(BORROWING_MS, signal);
      configuration.rebalance();
    }
  };
  const keep = async (signal: AbortSignal) => {
    for (;;) {
      await clock.sleep(KEEPING_MS, signal);
      try {
        await ensureObjects(ensure);
        await removeUnwanted(context, resources);
      } catch (error) {
        if (signal.aborted) return;
        log.warn(
          "the mandatory FlowSchemas and PriorityLevelConfigurations could not be ensured; the next try is in a minute",
          { error },
        );
      }
    }
  };

  return {
    step: fairnessStep({ configuration, estimator, watches, readWrite, clock }),
    dump: (path, query) => dump(configuration, path, query, clock.now() - clock.monotonic()),
    run: async (signal) => {
      const tasks = new TaskGroup({ parent: signal });
      tasks.run("borrowing", lend);
      tasks.run("kept objects", keep);
      tasks.run("flow schema status", (ending) => dangling.run(ending));
      await tasks.done();
    },
    close: () => {
      for (const stop of stops.splice(0)) stop();
      for (const { queue } of configuration.levels) queue.close();
    },
  };
}

function followInto<T extends { readonly metadata: KubeObject["metadata"] }>(
  { context, resources }: FairnessOptions,
  plural: string,
  objects: Map<string, T>,
  changed: () => void,
): () => void {
  const resource = resources.find(FLOW_CONTROL, "v1", plural);
  if (resource === undefined) return () => {};
  return follow(resource, context.feed.revision, {
    clear: () => {
      objects.clear();
      changed();
    },
    set: (key, object) => {
      objects.set(key, object as unknown as T);
      changed();
    },
    delete: (key) => {
      objects.delete(key);
      changed();
    },
  });
}

function readWriteRatios(metrics: FairnessMetrics, clock: Clock): ReadWriteRatios {
  const now = clock.monotonic();
  const both = (phase: "waiting" | "executing") => ({
    readOnly: metrics.readWrite(phase, "readOnly", now),
    mutating: metrics.readWrite(phase, "mutating", now),
  });
  return { waiting: both("waiting"), executing: both("executing") };
}
