/**
 * The components of a test cluster: controllers, scheduler, simulated nodes, and the controllers that are under test.
 * All of them talk to the API server alone, and begin with what it has: a cluster may go on without them, and with
 * others of their kind.
 *
 * 1. Each life of a component has metrics of its own, as a process has.
 */

import { defaultFeatures, type Features } from "#api";
import { type Clock, type Logger, MetricsRegistry, type Random, TaskGroup } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import { type Controller, controllerMetrics, runControllers } from "#controllers";
import type { ContainerScript, Fleet, UsageSource } from "#kubelet";
import type { KeyPair } from "#pki";
import type { NodesConfig } from "../../cluster/config/cluster-config.ts";
import { type ControllerManagerOptions, runControllerManager } from "../../cluster/in-process/controller-manager.ts";
import { runInProcessScheduler } from "../../cluster/in-process/scheduler.ts";
import { simulatedNodes } from "../../cluster/in-process/simulated-nodes.ts";
import type { SchedulingReasons } from "../../cluster/reasons/scheduling-reasons.ts";

export interface ComponentsOptions {
  readonly nodes?: NodesConfig | undefined;
  /** Which controllers run, as in `--controllers`. */
  readonly controllers?: readonly string[] | undefined;
  readonly scheduler: boolean;
  /** Feature gates of the controllers and the scheduler. Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** Which controllers kube-controller-manager has. Default: all. */
  readonly allControllers?: ControllerManagerOptions["controllers"];
  /** Controllers under test. */
  readonly operators: readonly Controller[];
  readonly images?: ((image: string) => Partial<ContainerScript> | undefined) | undefined;
  readonly usage?: UsageSource | undefined;
}

export interface Surroundings {
  /** The way to the API server for a component of this name. */
  readonly handleOf: (component: string) => InProcessHandle;
  readonly authority: KeyPair;
  readonly signToken: (claims: object) => Promise<string>;
  readonly reasons: SchedulingReasons;
  readonly clock: Clock;
  /** For one life of a component of this name. */
  readonly randomOf: (component: string) => Random;
  /** What of this machine can be seen in the API. Default: as it is. */
  readonly machine?: { readonly instance: string; readonly architecture: string } | undefined;
  readonly log: Logger;
}

export interface Components {
  readonly fleet: Fleet | undefined;
  /** Names of those that run. */
  readonly names: readonly string[];
  /** Ends one as it is, without another word to the API server, and starts it anew. */
  restart(name: string, bury?: () => void): Promise<void>;
  stop(): Promise<void>;
}

const OPERATOR = { name: "operator", groups: ["system:masters", "system:authenticated"] };

export function startComponents(options: ComponentsOptions, surroundings: Surroundings): Components {
  const { nodes, controllers: selection, operators } = options;
  const { handleOf, authority, signToken, reasons, clock, randomOf, machine, log } = surroundings;
  const { instance, architecture } = machine ?? {};
  const shared = { elects: false, instance, clock, log };
  const works = new Map<string, (signal: AbortSignal) => Promise<void>>();
  const running = new Map<string, TaskGroup>();
  let fleet: Fleet | undefined;
  const start = (name: string, work: (signal: AbortSignal) => Promise<void>) => {
    const tasks = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
    tasks.run(name, work);
    running.set(name, tasks);
  };
  const run = (name: string, work: (signal: AbortSignal) => Promise<void>) => {
    works.set(name, work);
    start(name, work);
  };
  run("kube-controller-manager", (signal) =>
    runControllerManager(
      {
        ...shared,
        random: randomOf("kube-controller-manager"),
        metrics: controllerMetrics(new MetricsRegistry()),
        handle: handleOf("kube-controller-manager"),
        authority,
        signToken,
        selection,
        controllers: options.allControllers,
        features: options.features ?? defaultFeatures,
      },
      signal,
    ),
  );
  if (options.scheduler)
    run("kube-scheduler", (signal) =>
      runInProcessScheduler(
        {
          ...shared,
          random: randomOf("kube-scheduler"),
          metrics: new MetricsRegistry(),
          handle: handleOf("kube-scheduler"),
          features: options.features,
          reasons,
        },
        signal,
      ),
    );
  if (nodes !== undefined)
    run("kubelet", (signal) => {
      fleet = simulatedNodes({
        nodes,
        handle: handleOf("kubelet"),
        ...{ defaults: { images: options.images }, usage: options.usage },
        ...{ architecture, clock, random: randomOf("kubelet"), log },
      });
      return fleet.run(signal);
    });
  if (operators.length > 0)
    run("operator", async (signal) => {
      const client = new Client({
        transport: inProcess(handleOf("operator"), OPERATOR),
        clock,
        userAgent: "operator",
      });
      try {
        const own = { controllers: operators, client, clientOf: () => client, instance: "test" };
        const random = randomOf("operator");
        await runControllers({ ...own, clock, random, log, metrics: controllerMetrics(new MetricsRegistry()) }, signal);
      } finally {
        await client.close();
      }
    });
  return {
    get fleet() {
      return fleet;
    },
    names: [...works.keys()],
    async restart(name, bury) {
      const work = works.get(name);
      if (work === undefined) throw new Error(`no component ${name} runs: there are ${[...works.keys()].join(", ")}`);
      const stopped = running.get(name)?.stop();
      bury?.();
      await stopped;
      start(name, work);
    },
    stop: async () => {
      await Promise.all([...running.values()].map((tasks) => tasks.stop()));
    },
  };
}
