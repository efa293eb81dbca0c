/** The whole public surface of base. */

export { Chain, Link, type Linked } from "./collections/chain.ts";
export { GrowingBytes } from "./collections/growing-bytes.ts";
export { Heap, type HeapEntry } from "./collections/heap.ts";
export { LruMap } from "./collections/lru-map.ts";
export { MemoMap, memoized } from "./collections/memo-map.ts";
export { type KeyRange, type OrderedKey, OrderedMap } from "./collections/ordered-map.ts";
export { table } from "./collections/table.ts";
export { TtlMap } from "./collections/ttl-map.ts";
export { type Dial, secured } from "./http-client/dial.ts";
export {
  HttpClient,
  type HttpClientOptions,
  type HttpClientTls,
  type HttpFailure,
  type HttpRequest,
  type HttpResponse,
  httpFailureText,
} from "./http-client/http-client.ts";
export { addressText, type NetworkAddress, networkErrorText } from "./http-client/network-error.ts";
export { type RequestTarget, requestTarget } from "./http-client/request-target.ts";
export { type Judgement, judge, judgeParts, type Model, type Operation } from "./linearizability/judge.ts";
export {
  REGISTER,
  type RegisterInput,
  type RegisterOutput,
  SET,
  type SetInput,
  type SetOutput,
} from "./linearizability/models.ts";
export { firstAnomaly, type VersionedOperation } from "./linearizability/versions.ts";
export { BufferedWriter, type BufferedWriterOptions } from "./log/buffered-writer.ts";
export {
  createLogger,
  DEBUG_VERBOSITY,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  silentLogger,
} from "./log/log.ts";
export type { LogFields, LogLevel } from "./log/log-format.ts";
export { type Plain, plainValue } from "./log/plain-value.ts";
export type { VerbosityPattern } from "./log/verbosity.ts";
export type { Counter, Gauge, Histogram } from "./metrics/metric-samples.ts";
export type { MetricsSettings } from "./metrics/metric-settings.ts";
export {
  type HistogramOptions,
  type MetricFamily,
  type MetricOptions,
  MetricsRegistry,
  metricsContentType,
  type Stability,
} from "./metrics/metrics.ts";
export { registerProcessMetrics } from "./metrics/process-metrics.ts";
export { Channel, type ChannelOptions } from "./queues/channel.ts";
export { type ProcessOptions, processQueue } from "./queues/process-queue.ts";
export { type Rate, TokenBucket } from "./queues/token-bucket.ts";
export {
  type AddOptions,
  type Unfinished,
  WorkQueue,
  type WorkQueueObserver,
  type WorkQueueOptions,
} from "./queues/work-queue.ts";
export { abortable, type ChildController, childController, Ending, isAbort, whenAborted } from "./system/abort.ts";
export type { Clock, Timer } from "./system/clock.ts";
export { nextTurn, settled } from "./system/event-loop.ts";
export { acquireFileLock, type FileLock, type FileLockHeld, type FileLockOptions } from "./system/file-lock.ts";
export { joined } from "./system/joined.ts";
export { makeFolder } from "./system/make-folder.ts";
export { type Random, readableAlphabet, seededRandom, systemRandom } from "./system/random.ts";
export { realClock } from "./system/real-clock.ts";
export { timeOfDay } from "./system/time-of-day.ts";
export { STRONG_CIPHERS } from "./system/tls-ciphers.ts";
export { uuidSource } from "./system/uuids.ts";
export { type IdleLimits, VirtualClock } from "./system/virtual-clock.ts";
export { Backoff, type BackoffOptions, backoffDelay, KeyedBackoff, type QuietTime } from "./tasks/backoff.ts";
export { KeyedLock } from "./tasks/keyed-lock.ts";
export { allKnown, andThen, attempt, isPending, lastly, type Maybe, settle } from "./tasks/maybe.ts";
export { type TaskFailure, TaskGroup, type TaskGroupOptions } from "./tasks/task-group.ts";
