/**
 * Runs all controllers of a process: with shared caches, and a client for each.
 *
 * 1. Caches use the identity of kube-controller-manager; a controller writes with its own identity and permissions.
 * 2. A controller that fails is logged and restarted; the others are not affected.
 * 3. A controller whose feature gate is off, or whose kinds are not served, does not run.
 */
import { defaultFeatures, type KubeObject, kinds } from "#api";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type Client, eventRecorder, Informers, type ResourceOf } from "#client";
import type { CallLog } from "./call-log.ts";
import type { Controller } from "./controller.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { firstUnserved } from "./needs.ts";
import { runController } from "./run-controller.ts";
import { selected } from "./selection.ts";

const RESTART_MS = 1_000;
/** Leases are renewed all the time, but matter only after many seconds. */
const GATHER_MS = 1_000;

export interface ControllersOptions {
  readonly controllers: readonly Controller[];
  /** `--controllers`: `*`, `-name`, `name`. Default: all that are enabled by default. */
  readonly selection?: readonly string[] | undefined;
  /** Whether a feature gate is on. Default: as in v1.36. */
  readonly enabled?: ((gate: string) => boolean) | undefined;
  /** For the caches: a client of system:kube-controller-manager. */
  readonly client: Client;
  /** A client of a service account in kube-system. */
  clientOf(account: string): Client;
  /** The instance in Events: a host name. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Metrics by controller name: see controllerMetrics. Counters continue if the controllers are run again. */
  metrics(name: string): ControllerMetrics;
  /** Calls of reconciles to others, for the flow record. Default: none are recorded. */
  readonly calls?: CallLog | undefined;
}

export async function runControllers(options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, instance, calls, enabled = defaultFeatures.enabled } = options;
  const watching = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} failed`, { error }) });
  const gatherMs = ({ plural }: { plural: string }) => (plural === "leases" ? GATHER_MS : undefined);
  const informers = new Informers({ client, clock, random, log, tasks: watching, gatherMs });
  const working = new TaskGroup({ parent: signal });
  for (const controller of selected(options.controllers, options.selection)) {
    const { name, account = name, reportsAs = name, gates = [], needs = [] } = controller;
    const off = gates.filter((gate) => !enabled(gate));
    if (off.length > 0) {
      if (options.selection?.includes(name) === true)
        log.warn("a selected controller does not run: feature gates are off", { controller: name, gates: off });
      continue;
    }
    const own = controller.identity === "manager" ? client : options.clientOf(account);
    const recorder = eventRecorder({
      events: own.of(kinds.Event),
      controller: reportsAs,
      instance,
      clock,
      random,
      log,
    });
    const metrics = options.metrics(name);
    const context = {
      client: own,
      clock,
      random,
      log: log.child({ controller: name }),
      informers,
      families: metrics.families,
      cache: <T extends KubeObject>(resource: ResourceOf<T>) => informers.of(resource).cache,
    };
    working.run(name, async (running) => {
      while (!running.aborted) {
        try {
          const unserved = await firstUnserved(client, needs, running);
          if (unserved !== undefined) {
            const { apiVersion, plural } = unserved;
            log.warn("a controller does not run: its kind is not served", { controller: name, apiVersion, plural });
            return;
          }
          await runController(controller, { context, informers, recorder, metrics, calls }, running);
        } catch (error) {
          if (running.aborted) return;
          log.error("a controller failed and is restarted", { controller: name, error });
          await clock.sleep(RESTART_MS, running);
        }
      }
    });
  }
  try {
    await working.done();
  } finally {
    await watching.stop();
  }
}
