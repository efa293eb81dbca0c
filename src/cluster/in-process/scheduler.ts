/**
 * The scheduler in the API server's process, as system:kube-scheduler. If other processes share the store, only the
 * elected leader works.
 */

import { hostname } from "node:os";
import { type Features, kinds } from "#api";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import { Client, type InProcessHandle, inProcess, leadElected, traced } from "#client";
import { Explanations, runScheduler, schedulerMetrics } from "#scheduler";
import type { Tracing } from "#tracing";

import type { SchedulingReasons } from "../reasons/scheduling-reasons.ts";

const NAMESPACE = "kube-system";
const NAME = "kube-scheduler";

export interface InProcessSchedulerOptions {
  readonly handle: InProcessHandle;
  /** Others may schedule on the same store. */
  readonly elects: boolean;
  /** Its instance in Events. Default: the name of this machine. */
  readonly instance?: string | undefined;
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Default: as in v1.36. */
  readonly features?: Features | undefined;
  /** Receives the reasons for its decisions. */
  readonly reasons: SchedulingReasons;
}

/** Runs until the signal aborts. */
export async function runInProcessScheduler(options: InProcessSchedulerOptions, signal: AbortSignal): Promise<void> {
  const { handle, elects, instance = hostname(), clock, random, log, features } = options;
  const tracer = options.tracing?.tracer(NAME);
  const user = { name: `system:${NAME}`, groups: ["system:authenticated"] };
  const client = new Client({ transport: traced(inProcess(handle, user), tracer, "Schedule"), clock, userAgent: NAME });
  const metrics = schedulerMetrics(options.metrics);
  const explanations = new Explanations();
  options.reasons.use(explanations);
  const run = (running: AbortSignal) =>
    runScheduler({ client, instance, clock, random, log, metrics, features, explanations, tracer }, running);
  try {
    if (!elects) return await run(signal);
    const identity = `${instance}_${Buffer.from(random.bytes(8)).toString("hex")}`;
    const leases = client.of(kinds.Lease).in(NAMESPACE);
    await leadElected({ leases, name: NAME, identity, clock, random, log }, signal, run);
  } finally {
    await client.close();
  }
}
