/**
 * Runs one controller.
 *
 *     caches --► sources ──► queue ──► barrier ──► reconcile ──► plan ──► writes ══► API server --► caches
 *                              ▲          └─ not yet: again when the caches show the last writes    │
 *                              └──────────────────── failed: again after a backoff ◄────────────────┘
 */
import { isStatusError } from "#api";
import { processQueue, TaskGroup, WorkQueue } from "#base";
import { type EventRecorder, type Informers, revisionOf } from "#client";
import { Barrier } from "./barrier.ts";
import type { CallLog } from "./call-log.ts";
import { Causes } from "./causes.ts";
import type { Controller, ControllerContext, Enqueue } from "./controller.ts";
import { execute } from "./execute.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { Reads } from "./reads.ts";

const DEFAULT_CONCURRENCY = 5;
/** The verbosity from which on each reconcile is logged, as in Kubernetes' controllers. */
const RECONCILES_FROM = 4;

export interface Running {
  readonly context: ControllerContext;
  readonly informers: Informers;
  readonly recorder: EventRecorder;
  readonly metrics: ControllerMetrics;
  readonly calls?: CallLog | undefined;
}

/** Until the signal aborts; reconciles under way are finished first. */
export async function runController(
  controller: Controller,
  { context, informers, recorder, metrics, calls: callLog }: Running,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, client } = context;
  const { name, concurrency = DEFAULT_CONCURRENCY } = controller;
  const reads = new Reads();
  const reconciler = controller.bind({
    ...context,
    cache: (resource) => reads.of(resource, context.cache(resource)),
  });
  const queue = new WorkQueue<string>({ clock, random, observer: metrics.queue });
  const barrier = new Barrier(informers);
  const bound = reconciler.sources.map(({ resource, keys }) => ({ informer: informers.of(resource), keys }));
  await Promise.race([Promise.all(bound.map(({ informer }) => informer.synced)), aborted(signal)]);
  if (signal.aborted) return;
  const causes = new Causes(controller.account ?? name, reconciler.sources.find(({ isItself }) => isItself)?.resource);
  const leave = bound.map(({ informer, keys }) =>
    informer.onChange((change) => {
      for (const key of keys(change)) {
        causes.woken(key, revisionOf(change.object));
        queue.add(key);
      }
    }),
  );

  const work = async (key: string, working: AbortSignal): Promise<void> => {
    const pending = barrier.pending(key, working);
    if (pending !== undefined) {
      // Not awaited here, so that this worker can take other keys.
      pending.then(
        () => queue.add(key),
        () => {},
      );
      return;
    }
    const startedAt = clock.now();
    const woken = causes.take(key);
    const run = () => reads.during(() => reconciler.reconcile(key, startedAt, working));
    const { result, calls } = callLog === undefined ? { result: await run(), calls: [] } : await callLog.during(run);
    const { result: plan, read } = result;
    if (plan === undefined) return causes.forgetCalls(key);
    causes.called(key, startedAt, calls);
    let made: string | undefined;
    const cause = () => {
      made ??= causes.of(key, woken, startedAt, plan, read);
      return made;
    };
    const { failures, seen } = await execute(plan, { client, recorder, signal: working, cause });
    barrier.expect(key, seen);
    metrics.reconciled(failures.length);
    plan.done?.(failures);
    if (log.enabled(RECONCILES_FROM)) {
      const writes = (plan.steps ?? []).flat().length;
      log.verbose(RECONCILES_FROM, "reconciled", {
        key,
        writes,
        failures: failures.length,
        ms: clock.now() - startedAt,
      });
    }
    const [first] = failures;
    // A failed or delayed key keeps its causes.
    const waits = plan.againAfterMs !== undefined && (plan.steps ?? []).flat().length === 0;
    if (first !== undefined || waits) causes.putBack(key, woken);
    if (plan.againAfterMs !== undefined) queue.addAfter(key, plan.againAfterMs);
    if (first !== undefined) throw first.error;
  };

  const ended = metrics.runs(queue);
  const tasks = new TaskGroup({ parent: signal });
  tasks.run(name, (running) =>
    processQueue(
      queue,
      {
        concurrency,
        signal: running,
        onFailure: (error, key) => {
          // Conflicts are normal, and retried.
          const level = isStatusError(error) && error.reason === "Conflict" ? "debug" : "warn";
          log[level]("a reconcile failed and is tried again", { key, error });
          return "retry";
        },
      },
      work,
    ),
  );
  const enqueue: Enqueue = (key, afterMs = 0, revision) => {
    if (revision !== undefined) causes.woken(key, revision);
    queue.addAfter(key, afterMs);
  };
  const { run } = reconciler;
  if (run !== undefined) tasks.run(`${name}, background`, (running) => run.call(reconciler, running, enqueue));
  try {
    await tasks.done();
  } finally {
    for (const each of [...leave, ended]) each();
    queue.close();
    await recorder.flush();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
