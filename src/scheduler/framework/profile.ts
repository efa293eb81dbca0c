/**
 * A scheduler's configuration as values: what the file `KubeSchedulerConfiguration` says, read, defaulted and checked, with `multiPoint` resolved.
 */

import type { Clock, Counter, Histogram, Logger, MetricFamily, Random } from "#base";
import type { Client, EventRecorder, Informers } from "#client";
import type { ClusterView } from "./cluster-view.ts";
import type { Extender, ExtenderConfig } from "./extender.ts";
import type { Plugin } from "./plugin.ts";
import type { PluginArguments } from "./plugin-arguments.ts";

export const EXTENSION_POINTS = [
  "preEnqueue",
  "queueSort",
  "preFilter",
  "filter",
  "postFilter",
  "preScore",
  "score",
  "reserve",
  "permit",
  "preBind",
  "bind",
  "postBind",
] as const;

export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

export interface PluginUse {
  readonly name: string;
  /** Of scores; 1 if it is not said. */
  readonly weight: number;
}

export interface Profile {
  readonly schedulerName: string;
  /** In the order in which they run. A plugin that is named at a point which it has no stage for is not asked there. */
  readonly plugins: Readonly<Record<ExtensionPoint, readonly PluginUse[]>>;
  /** What `pluginConfig` says, checked, every default filled in. */
  readonly args: PluginArguments;
  /** Over the scheduler's own. */
  readonly percentageOfNodesToScore?: number;
}

export interface SchedulerConfiguration {
  readonly profiles: readonly Profile[];
  /** Looks no further once so many of the nodes fit. Undefined or 100: looks at all. 0: as few as the original would by default. */
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
  readonly extenders: readonly ExtenderConfig[];
}

/** What plugins are made with. */
export interface PluginContext {
  readonly client: Client;
  readonly informers: Informers;
  readonly view: ClusterView;
  /** Where a resource stands in a node's arrays. */
  readonly resources: { indexOf(name: string): number };
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Tries a pod again, whatever it waits for. */
  wake(uid: string): void;
  /** Asks `preEnqueue` again about a pod that it has held back. */
  ungate(uid: string): void;
  readonly extenders: readonly Extender[];
  /** Pods that wait in permit, or whose preBind is at work. */
  readonly waiting: {
    allow(uid: string, plugin: string): void;
    /** False if no permit keeps it waiting. */
    reject(uid: string, plugin: string, message: string): boolean;
    /** Stops the binding of a pod, which goes back to the queue: when that is done; undefined if there is none that can be stopped. */
    preempt(uid: string, plugin: string): Promise<void> | undefined;
  };
  readonly metrics: {
    readonly preemptionAttempts: MetricFamily<Counter, []>;
    readonly preemptionVictims: MetricFamily<Histogram, []>;
  };
  /** Work that goes on beside the attempts; awaited at the end. What it throws is logged. */
  beside(what: string, work: () => Promise<void>): void;
  /** Aborts when the scheduler ends. */
  readonly signal: AbortSignal;
}

/** How a plugin comes into being, once for each profile that names it. */
export interface PluginFactory {
  readonly name: string;
  make(args: PluginArguments, context: PluginContext): Plugin;
}

/** A configuration that cannot be used, in one sentence. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
