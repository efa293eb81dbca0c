/**
 * The controllers that belong to the API server itself: coordinated elections of other components' leaders. Of several
 * API servers, one runs them.
 */
import { hostname } from "node:os";
import { type Features, kinds } from "#api";
import type { Clock, Logger, Random } from "#base";
import { Client, type InProcessHandle, inProcess, leadElected } from "#client";
import { type ControllersOptions, electionControllers, runControllers } from "#controllers";

/** `--coordinated-leadership-*`. Absent: those of `--leader-elect-*`. */
export interface LeadershipTimes {
  readonly leaseMs?: number | undefined;
  readonly renewDeadlineMs?: number | undefined;
  readonly retryMs?: number | undefined;
}

export interface CoordinatedElectionsOptions {
  readonly handle: InProcessHandle;
  readonly features: Features;
  readonly times?: LeadershipTimes | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ControllersOptions["metrics"];
}

const IDENTITY = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

/** Runs until the signal aborts. */
export async function runCoordinatedElections(
  { handle, features, times = {}, clock, random, log, metrics }: CoordinatedElectionsOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new Client({ transport: inProcess(handle, IDENTITY), clock, userAgent: "kube-apiserver" });
  const run = (running: AbortSignal) =>
    runControllers(
      {
        controllers: electionControllers,
        enabled: features.enabled,
        client,
        clientOf: () => client,
        instance: hostname(),
        clock,
        random,
        log,
        metrics,
      },
      running,
    );
  const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = times;
  const identity = `${hostname()}_${Buffer.from(random.bytes(8)).toString("hex")}`;
  const leases = client.of(kinds.Lease).in("kube-system");
  const election = { leases, name: "leader-election-controller", identity, leaseMs, renewDeadlineMs, retryMs };
  try {
    await leadElected({ ...election, clock, random, log }, signal, run);
  } finally {
    await client.close();
  }
}
