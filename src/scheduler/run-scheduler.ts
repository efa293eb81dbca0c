/**
 * Composes a scheduler: informers, cluster state, queue, attempts and bindings.
 *
 *     informers --► followCluster ──► state, queue ──► scheduleLoop ──► bindings ══► API server
 */
import { type core, defaultFeatures, type Features, kinds } from "#api";
import { type Clock, isAbort, type Logger, type Random, TaskGroup } from "#base";
import { type Client, type EventRecorder, eventRecorder, Informers } from "#client";
import { Works } from "#flows";
import type { Tracer } from "#tracing";
import { defaultConfiguration } from "./configuration/index.ts";
import { scheduleLoop } from "./cycle/attempts.ts";
import { BackgroundTasks } from "./cycle/background-tasks.ts";
import { EventBacklog } from "./cycle/event-backlog.ts";
import { Explanations } from "./cycle/explanations.ts";
import { followCluster } from "./cycle/follow-cluster.ts";
import { collectSizes, counted, type SchedulerMetrics } from "./cycle/metrics.ts";
import type { Parts } from "./cycle/parts.ts";
import { WaitingPods } from "./cycle/waiting-pods.ts";
import { Evaluator } from "./evaluation/index.ts";
import { httpExtender } from "./extenders/index.ts";
import {
  ConfigurationError,
  makeStages,
  type PluginContext,
  type PluginFactory,
  rejectionsOf,
  type SchedulerConfiguration,
  type Stages,
} from "./framework/index.ts";
import { ALL_PLUGINS } from "./plugins/index.ts";
import { SchedulingQueue, Wakes } from "./queue/index.ts";
import { ClusterState, PodGroups, PodInfos, ResourceNames } from "./snapshot/index.ts";

/** While pods are being placed, at most one Event is written in this time. */
const EVENT_PAUSE_MS = 5;

export interface SchedulerOptions {
  readonly client: Client;
  readonly configuration?: SchedulerConfiguration | undefined;
  /** Out-of-tree plugins. */
  readonly plugins?: readonly PluginFactory[] | undefined;
  /** The instance of this process, in Events. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: SchedulerMetrics;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Default: as in v1.36. */
  readonly features?: Pick<Features, "enabled"> | undefined;
  /** Receives the decisions. */
  readonly explanations?: Explanations | undefined;
  /** After this long, parked pods are retried without an event. Default: five minutes. */
  readonly parkedMs?: number | undefined;
  /** Called with the scheduler's cache of pods. */
  readonly onPods?: ((pods: { list(): readonly core.Pod[] }) => void) | undefined;
  /** Called when the caches are synced and scheduling begins. */
  readonly onReady?: (() => void) | undefined;
}

/** Until the signal aborts. */
export async function runScheduler(options: SchedulerOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, metrics, features = defaultFeatures } = options;
  const enabled = (gate: string) => features.enabled(gate);
  const factories = [...ALL_PLUGINS, ...(options.plugins ?? [])];
  const configuration = options.configuration ?? defaultConfiguration(factories);
  const tasks = new TaskGroup({ parent: signal });
  const background = new BackgroundTasks(log, clock, tasks.signal);
  const informers = new Informers({ client, clock, random, log, tasks });
  const resources = new ResourceNames();
  const state = new ClusterState(resources);
  const groups = enabled("GenericWorkload") ? new PodGroups() : undefined;
  const nodeNamed = (name: string) => state.nodeNamed(name);
  const extenders = configuration.extenders.map((extender) => httpExtender(extender, { clock, nodeNamed }));
  const recorders = new Map<string, EventRecorder>();
  const events = (schedulerName: string) => {
    let recorder = recorders.get(schedulerName);
    if (recorder === undefined) {
      recorder = new EventBacklog({
        recorder: eventRecorder({
          ...options,
          events: client.of(kinds.Event),
          controller: schedulerName,
          instance: `${schedulerName}-${options.instance}`,
        }),
        isBusy: () => queue.sizes.active > 0 || background.size > 0,
        pause: () => pauseAmong(background, clock),
        log,
      });
      recorders.set(schedulerName, recorder);
    }
    return recorder;
  };
  const waiting = new WaitingPods(clock);
  const profiles = new Map<string, { readonly stages: Stages; readonly wakes: Wakes }>();
  for (const profile of configuration.profiles) {
    const context: PluginContext = {
      client,
      informers,
      view: state,
      resources,
      events: events(profile.schedulerName),
      clock,
      random,
      log,
      wake: (uid) => queue.activate(uid),
      ungate: (uid) => queue.ungate(uid),
      metrics,
      extenders,
      groups,
      enabled,
      waiting,
      signal: tasks.signal,
      runInBackground: (what, work) => background.run(what, () => counted(metrics.underWay.preemption, work)),
    };
    const stages = makeStages(profile, factories, context);
    const wakes = new Wakes(stages.plugins, (error, plugin) =>
      log.error("a queueing hint failed: the pod is queued", { plugin, error }),
    );
    profiles.set(profile.schedulerName, { stages, wakes });
  }
  const queue = new SchedulingQueue({
    profileOf: (schedulerName) => profiles.get(schedulerName),
    queueSort: sortOf([...profiles.values()].map(({ stages }) => stages)),
    clock,
    initialBackoffMs: configuration.podInitialBackoffSeconds * 1000,
    maxBackoffMs: configuration.podMaxBackoffSeconds * 1000,
    parkedMs: options.parkedMs,
    onIncoming: countIncoming(metrics),
  });
  const parts: Parts = {
    state,
    infos: new PodInfos(resources),
    groups,
    isGangScheduling: enabled("GangScheduling"),
    queue,
    evaluators: new Map([...profiles].map(([name, { stages }]) => [name, new Evaluator(stages, state)])),
    extenders,
    extenderRejections: rejectionsOf(""),
    percentageOfNodesToScore: configuration.percentageOfNodesToScore,
    client,
    events,
    explanations: options.explanations ?? new Explanations(),
    works: new Works("scheduler"),
    tracer: options.tracer,
    waiting,
    metrics,
    clock,
    random,
    log,
    signal: tasks.signal,
    runInBackground: (what, work) => background.run(what, work),
    awaitOthers: (until) => background.wait(until),
  };
  const stopCollecting = collectSizes(metrics, queue, state);
  try {
    followCluster(
      parts,
      informers,
      [...profiles.values()].flatMap(({ stages }) => stages.plugins),
    );
    tasks.run("scheduling", async () => {
      await informers.synced();
      options.onPods?.(informers.of(kinds.Pod).cache);
      options.onReady?.();
      await scheduleLoop(parts, () => background.room());
    });
    await tasks.done();
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  } finally {
    stopCollecting();
    queue.close();
    waiting.rejectAll("the scheduler ends");
    await background.done();
    for (const recorder of recorders.values()) await recorder.flush();
    for (const extender of extenders) await extender.close();
  }
}

/** Waits until no background task runs, but not for long. */
async function pauseAmong(background: BackgroundTasks, clock: Clock): Promise<void> {
  const waiting = new AbortController();
  const waited = clock.sleep(EVENT_PAUSE_MS, waiting.signal).catch((error: unknown) => {
    if (!isAbort(error, waiting.signal)) throw error;
  });
  await Promise.race([background.idle(), waited]);
  waiting.abort();
  await waited;
}

/** All profiles share one queue, so they need the same queueSort plugin. */
function sortOf(all: readonly Stages[]) {
  const [first, ...others] = all;
  const sort = first?.queueSort.queueSort;
  if (first === undefined || sort === undefined) throw new ConfigurationError("there is no profile");
  const other = others.find(({ queueSort }) => queueSort.name !== first.queueSort.name);
  if (other !== undefined) {
    throw new ConfigurationError(
      `different queue sort plugins for profile ${other.schedulerName} and ${first.schedulerName}: all profiles have to use the same`,
    );
  }
  return sort;
}

function countIncoming({ incoming }: SchedulerMetrics) {
  return (queue: string, event: string) => incoming.labels(queue, event).inc();
}
