/**
 * `k8ts/controllers`: the runtime of our own controllers, for operators in TypeScript. A controller is a name, the
 * resources that it reads, and a function from the cached state of one key to a plan of writes.
 */
import { hostname } from "node:os";
import { type Clock, type Logger, MetricsRegistry, type Random, realClock, silentLogger, systemRandom } from "#base";
import type { Client } from "#client";
import { type Controller, controllerMetrics, runControllers } from "#controllers";

export type { Clock, Logger, Random } from "#base";
export { createLogger, realClock, silentLogger, systemRandom } from "#base";
export {
  type Change,
  type EventRecorder,
  type Informers,
  objectKey,
  type ReadonlyCache,
  type RecordedEvent,
  type ResourceName,
  type ResourceOf,
} from "#client";
export {
  type Controller,
  type ControllerContext,
  changesOf,
  controllerKey,
  controllerOf,
  defineController,
  type Enqueue,
  type Failure,
  keysFrom,
  type Outcome,
  type OwnerKind,
  ownedBy,
  ownersOf,
  type Plan,
  type Reconciler,
  type Source,
  type Write,
} from "#controllers";

export interface OperatorOptions {
  readonly client: Client;
  /** The instance in Events. Default: the host name. */
  readonly instance?: string | undefined;
  /** Default: the real ones. Tests pass those of a test cluster. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Default: nothing is logged. */
  readonly log?: Logger | undefined;
  /** Default: metrics are kept, and nobody reads them. */
  readonly metrics?: MetricsRegistry | undefined;
}

/** Runs controllers with shared caches, as the client's user, until the signal aborts. */
export async function runOperator(
  controllers: readonly Controller[],
  { client, instance = hostname(), ...options }: OperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock = realClock(), random = systemRandom(), log = silentLogger, metrics = new MetricsRegistry() } = options;
  await runControllers(
    {
      controllers,
      client,
      clientOf: () => client,
      instance,
      clock,
      random,
      log,
      metrics: controllerMetrics(metrics),
    },
    signal,
  );
}
