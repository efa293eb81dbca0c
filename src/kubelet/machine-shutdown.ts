/**
 * The kubelet's side of a machine's shutdown: Pods end in order, their statuses are reported, then the kubelet ends.
 */
import { abortable, type Clock, type Logger, type TaskGroup } from "#base";
import type { KubeletConfig } from "./config/index.ts";
import { shutDownPods } from "./eviction/index.ts";
import type { NodePods } from "./node-pods.ts";
import { isFinal } from "./pod-status/index.ts";

/** How long to wait for the last statuses to be written. */
const REPORT_MS = 5000;
const POLL_MS = 100;

export interface MachineShutdownOptions {
  readonly config: Pick<KubeletConfig, "shutdownPeriods">;
  /** Aborts when the machine shuts down. */
  readonly shutdown?: AbortSignal | undefined;
  readonly pods: Pick<NodePods, "workers" | "api">;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onBegin: () => void;
  readonly onEnd: () => void;
}

export function startMachineShutdown(options: MachineShutdownOptions): void {
  const { config, shutdown, pods, tasks, clock, log, onBegin, onEnd } = options;
  const { shutdownPeriods: periods } = config;
  if (shutdown === undefined || periods.length === 0) return;
  tasks.run("shutdown of the machine", async (signal) => {
    await abortOf(shutdown, signal);
    onBegin();
    await shutDownPods({ workers: pods.workers, periods, clock, log }, signal);
    await lastStatusesReported(pods, clock, signal);
    onEnd();
  });
}

async function abortOf(awaited: AbortSignal, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (awaited.aborted) resolve();
  else awaited.addEventListener("abort", () => resolve(), { once: true });
  await abortable(promise, signal);
}

/** Gives up after a while: the API server may be away. */
async function lastStatusesReported(
  { workers, api }: MachineShutdownOptions["pods"],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonic() + REPORT_MS;
  const isReported = (uid: string) => {
    const found = api.cache.list().find(({ metadata }) => metadata.uid === uid);
    return found === undefined || isFinal(found.status?.phase);
  };
  const ended = () => workers.list().filter(({ state }) => state === "terminated");
  while (clock.monotonic() < deadline && !ended().every(({ uid }) => isReported(uid)))
    await clock.sleep(POLL_MS, signal);
}
