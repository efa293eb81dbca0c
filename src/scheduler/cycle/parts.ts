/** What the parts of a scheduler at work share. */
import type { Clock, Logger, Random } from "#base";
import type { Client, EventRecorder } from "#client";
import type { Works } from "#flows";
import type { Evaluator } from "../evaluation/index.ts";
import type { Extender } from "../framework/index.ts";
import type { SchedulingQueue } from "../queue/index.ts";
import type { ClusterState, PodInfos } from "../snapshot/index.ts";
import type { Explanations } from "./explanations.ts";
import type { SchedulerMetrics } from "./metrics.ts";
import type { WaitingPods } from "./waiting-pods.ts";

export interface Parts {
  readonly state: ClusterState;
  readonly infos: PodInfos;
  readonly queue: SchedulingQueue;
  /** By schedulerName. */
  readonly evaluators: ReadonlyMap<string, Evaluator>;
  readonly extenders: readonly Extender[];
  readonly percentageOfNodesToScore: number | undefined;
  readonly client: Client;
  /** Of one profile's scheduler: its name is told as who reports. */
  readonly events: (schedulerName: string) => EventRecorder;
  readonly explanations: Explanations;
  /** Of attempts that place nothing; whoever binds tells of those that do. */
  readonly works: Works;
  readonly waiting: WaitingPods;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Goes on beside the attempts; awaited at the end. What it throws is logged. */
  readonly beside: (what: string, work: () => Promise<void>) => void;
  /** For what goes on beside: it waits for others, perhaps for long. */
  readonly waits: <T>(until: Promise<T>) => Promise<T>;
}
