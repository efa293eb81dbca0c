/** The scheduling queue. */

export type { QueueProfile, SchedulingQueueOptions } from "./queue-options.ts";
export type { Failure, QueuedPod, QueueName } from "./queued-pod.ts";
export { SchedulingQueue } from "./scheduling-queue.ts";
export { EXTENDER, Wakes } from "./wakes.ts";
