/** The scheduling queue. */
export type { Failure, QueuedPod, QueueName } from "./queued-pod.ts";
export { type QueueProfile, SchedulingQueue, type SchedulingQueueOptions } from "./scheduling-queue.ts";
export { EXTENDER, Wakes } from "./wakes.ts";
