/** The whole public surface of base. */

export { abortable, type ChildController, childController, Ending, isAbort, whenAborted } from "./abort.ts";
export { Backoff, type BackoffOptions, backoffDelay, KeyedBackoff, type QuietTime } from "./backoff.ts";
export { BoundedMap } from "./bounded-map.ts";
export { Chain, Link, type Linked } from "./chain.ts";
export { Channel, type ChannelOptions } from "./channel.ts";
export type { Clock, Timer } from "./clock.ts";
export { nextTurn, settled } from "./event-loop.ts";
export { acquireFileLock, type FileLock, type FileLockHeld, type FileLockOptions } from "./file-lock.ts";
export { Heap, type HeapEntry } from "./heap.ts";
export { joined } from "./joined.ts";
export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel, silentLogger } from "./log.ts";
export { allKnown, andThen, attempt, isPending, lastly, type Maybe, settle } from "./maybe.ts";
export type { Counter, Gauge, Histogram } from "./metric-samples.ts";
export {
  type HistogramOptions,
  type MetricFamily,
  type MetricOptions,
  MetricsRegistry,
  metricsContentType,
} from "./metrics.ts";
export { type KeyRange, type OrderedKey, OrderedMap } from "./ordered-map.ts";
export { type Plain, plainValue } from "./plain-value.ts";
export { registerProcessMetrics } from "./process-metrics.ts";
export { type ProcessOptions, processQueue } from "./process-queue.ts";
export { type Random, readableAlphabet, seededRandom, systemRandom } from "./random.ts";
export { realClock } from "./real-clock.ts";
export { type TaskFailure, TaskGroup, type TaskGroupOptions } from "./task-group.ts";
export { timeOfDay } from "./time-of-day.ts";
export { UUID_LENGTH, Uuids } from "./uuids.ts";
export { type IdleLimits, VirtualClock } from "./virtual-clock.ts";
export { type AddOptions, WorkQueue, type WorkQueueObserver, type WorkQueueOptions } from "./work-queue.ts";
