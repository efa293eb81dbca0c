/**
 * A scheduler's configuration: KubeSchedulerConfiguration with defaults, validated, and with `multiPoint` resolved.
 */
import type { Clock, Counter, Histogram, Logger, MetricFamily, Random } from "#base";
import type { Client, EventRecorder, Informers } from "#client";
import type { ClusterView } from "./cluster-view.ts";
import type { Extender, ExtenderConfig } from "./extender.ts";
import type { Groups } from "./group.ts";
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
  "placementGenerate",
  "placementScore",
] as const;

export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

export interface PluginUse {
  readonly name: string;
  /** The weight of its score. Default: 1. */
  readonly weight: number;
}

export interface Profile {
  readonly schedulerName: string;
  /** In execution order. A plugin without a stage for a point is skipped there. */
  readonly plugins: Readonly<Record<ExtensionPoint, readonly PluginUse[]>>;
  /** `pluginConfig`, validated and with all defaults. */
  readonly args: PluginArguments;
  /** Overrides the scheduler's own. */
  readonly percentageOfNodesToScore?: number | undefined;
}

export interface SchedulerConfiguration {
  readonly profiles: readonly Profile[];
  /** Stops once this share of the nodes fits. Undefined or 100: all nodes. 0: the adaptive share of kube-scheduler. */
  readonly percentageOfNodesToScore?: number | undefined;
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
  readonly extenders: readonly ExtenderConfig[];
}

/** What plugins are constructed with. */
export interface PluginContext {
  readonly client: Client;
  readonly informers: Informers;
  readonly view: ClusterView;
  /** Positions of resources in a node's arrays. */
  readonly resources: { indexOf(name: string): number };
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Activates a pod, whatever it waits for. */
  wake(uid: string): void;
  /** Runs `preEnqueue` again for a gated pod. */
  ungate(uid: string): void;
  /** Undefined: PodGroups are ignored. */
  readonly groups: Groups | undefined;
  /** Whether a feature gate is on. */
  enabled(gate: string): boolean;
  readonly extenders: readonly Extender[];
  /** Pods that wait in permit, or whose preBind runs. */
  readonly waiting: {
    allow(uid: string, plugin: string): void;
    /** False if the pod does not wait in permit. */
    reject(uid: string, plugin: string, message: string): boolean;
    /** Stops a binding; the pod returns to the queue. Resolves when that is done; undefined if it cannot be stopped. */
    preempt(uid: string, plugin: string): Promise<void> | undefined;
  };
  readonly metrics: {
    readonly preemptionAttempts: MetricFamily<Counter, []>;
    readonly preemptionVictims: MetricFamily<Histogram, []>;
  };
  /** Runs work concurrently with the attempts. Awaited at shutdown; errors are logged. */
  runInBackground(what: string, work: () => Promise<void>): void;
  /** Aborts when the scheduler ends. */
  readonly signal: AbortSignal;
}

/** Constructs a plugin, once for each profile that uses it. */
export interface PluginFactory {
  readonly name: string;
  /** Without this feature gate it is in no profile. */
  readonly gate?: string | undefined;
  make(args: PluginArguments, context: PluginContext): Plugin;
}

/** An unusable configuration; the message is one sentence. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
