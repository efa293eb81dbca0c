/**
 * The components of a test cluster: controllers, scheduler, simulated nodes, and the controllers that are under test.
 * All of them talk to the API server alone, and begin with what it has: a cluster may go on without them, and with
 * others of their kind.
 */

import { defaultFeatures } from "#api";
import { type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import { type Controller, controllerMetrics, runControllers } from "#controllers";
import type { ContainerScript, Fleet, UsageSource } from "#kubelet";
import type { KeyPair } from "#pki";
import type { NodesConfig } from "../../cluster/config/cluster-config.ts";
import { runControllerManager } from "../../cluster/in-process/controller-manager.ts";
import { runInProcessScheduler } from "../../cluster/in-process/scheduler.ts";
import { simulatedNodes } from "../../cluster/in-process/simulated-nodes.ts";
import type { SchedulingReasons } from "../../cluster/reasons/scheduling-reasons.ts";

export interface ComponentsOptions {
  readonly nodes?: NodesConfig | undefined;
  /** Which controllers run, as in `--controllers`. */
  readonly controllers?: readonly string[] | undefined;
  readonly scheduler: boolean;
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
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface Components {
  readonly fleet: Fleet | undefined;
  /** Names of those that run. */
  readonly names: readonly string[];
  stop(): Promise<void>;
}

const OPERATOR = { name: "operator", groups: ["system:masters", "system:authenticated"] };

export function startComponents(options: ComponentsOptions, surroundings: Surroundings): Components {
  const { nodes, controllers: selection, operators } = options;
  const { handleOf, authority, signToken, reasons, metrics, clock, random, log } = surroundings;
  const tasks = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
  const shared = { elects: false, clock, random, log, metrics };
  const names: string[] = [];
  const run = (name: string, work: (signal: AbortSignal) => Promise<void>) => {
    names.push(name);
    tasks.run(name, work);
  };
  run("kube-controller-manager", (signal) =>
    runControllerManager(
      {
        ...shared,
        handle: handleOf("kube-controller-manager"),
        authority,
        signToken,
        selection,
        features: defaultFeatures,
      },
      signal,
    ),
  );
  if (options.scheduler)
    run("kube-scheduler", (signal) =>
      runInProcessScheduler({ ...shared, handle: handleOf("kube-scheduler"), reasons }, signal),
    );
  const fleet =
    nodes &&
    simulatedNodes({
      nodes,
      handle: handleOf("kubelet"),
      ...{ defaults: { images: options.images }, usage: options.usage },
      ...{ clock, random, log },
    });
  if (fleet !== undefined) run("kubelet", (signal) => fleet.run(signal));
  if (operators.length > 0)
    run("operator", async (signal) => {
      const client = new Client({
        transport: inProcess(handleOf("operator"), OPERATOR),
        clock,
        userAgent: "operator",
      });
      try {
        const own = { controllers: operators, client, clientOf: () => client, instance: "test" };
        await runControllers({ ...own, clock, random, log, metrics: controllerMetrics(metrics) }, signal);
      } finally {
        await client.close();
      }
    });
  return { fleet, names, stop: () => tasks.stop() };
}
