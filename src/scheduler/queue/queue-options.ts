/** What the scheduling queue needs: the profiles' stages and wakes, and its times. */
import type { Clock } from "#base";
import type { Stages } from "../framework/index.ts";
import type { QueueName } from "./queued-pod.ts";
import type { Wakes } from "./wakes.ts";

export interface QueueProfile {
  readonly stages: Pick<Stages, "preEnqueue" | "queueSort">;
  readonly wakes: Wakes;
}

export interface SchedulingQueueOptions {
  /** Undefined: not a pod of this scheduler. */
  readonly profileOf: (schedulerName: string) => QueueProfile | undefined;
  readonly queueSort: NonNullable<Stages["queueSort"]["queueSort"]>;
  readonly clock: Clock;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Parked pods are retried after this long without a wake-up event. Default: five minutes. */
  readonly parkedMs?: number | undefined;
  /** Called for each pod that enters a queue, with the event that caused it. */
  readonly onIncoming?: (queue: QueueName, event: string) => void;
}
