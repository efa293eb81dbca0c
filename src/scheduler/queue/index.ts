/** Where pods wait for their attempts, and what wakes them. */
export type { Failure, QueuedPod, QueueName } from "./queued-pod.ts";
export { type QueueProfile, SchedulingQueue, type SchedulingQueueOptions } from "./scheduling-queue.ts";
export { EXTENDER, Wakes } from "./wakes.ts";
