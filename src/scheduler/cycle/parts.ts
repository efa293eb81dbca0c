/** What the parts of a running scheduler share. */
import type { Clock, Logger, Random } from "#base";
import type { Client, EventRecorder } from "#client";
import type { Works } from "#flows";
import type { Tracer } from "#tracing";
import type { Evaluator } from "../evaluation/index.ts";
import type { Extender, Rejections } from "../framework/index.ts";
import type { SchedulingQueue } from "../queue/index.ts";
import type { ClusterState, PodGroups, PodInfos } from "../snapshot/index.ts";
import type { Explanations } from "./explanations.ts";
import type { SchedulerMetrics } from "./metrics.ts";
import type { WaitingPods } from "./waiting-pods.ts";

export interface Parts {
  readonly state: ClusterState;
  readonly infos: PodInfos;
  readonly queue: SchedulingQueue;
  /** Undefined: groups are ignored. */
  readonly groups: PodGroups | undefined;
  /** The gate GangScheduling. */
  readonly isGangScheduling: boolean;
  /** By schedulerName. */
  readonly evaluators: ReadonlyMap<string, Evaluator>;
  readonly extenders: readonly Extender[];
  readonly extenderRejections: Rejections;
  readonly percentageOfNodesToScore: number | undefined;
  readonly client: Client;
  /** The Event recorder of a profile, which reports with its schedulerName. */
  readonly events: (schedulerName: string) => EventRecorder;
  readonly explanations: Explanations;
  /** Records failed attempts for the flow record; bind plugins record successful ones. */
  readonly works: Works;
  readonly tracer?: Tracer | undefined;
  readonly waiting: WaitingPods;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Runs work concurrently with the attempts. Awaited at shutdown; errors are logged. */
  readonly runInBackground: (what: string, work: () => Promise<void>) => void;
  /** For background work that waits for others, possibly long: see BackgroundTasks. */
  readonly awaitOthers: <T>(until: Promise<T>) => Promise<T>;
}
