/**
 * Runs the snapshot controller, and the snapshotter of a driver, each with a client of its own account.
 *
 *     runSnapshotController ──► VolumeSnapshots ◄──► VolumeSnapshotContents ◄──► runSnapshotter ──► CSI driver
 */
import { isStatusError, kinds } from "#api";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import { type Client, leadElected } from "#client";
import { type CallLog, type Controller, type ControllerMetrics, runControllers } from "#controllers";
import { operationMetrics } from "../controller/operations.ts";
import { contentController, snapshotController } from "../controller/snapshot-controller.ts";
import { groupContentController, groupController } from "../groups/group-controller.ts";
import { groupKinds } from "../objects/group-kinds.ts";
import { contentSnapshotter, groupContentSnapshotter } from "../sidecar/content-snapshotter.ts";
import type { SnapshotterOptions } from "../sidecar/options.ts";
import { NAMESPACE } from "./roles.ts";
import { whileAlone } from "./step-aside.ts";

export interface RunOptions {
  readonly client: Client;
  /** The instance in Events: a host name. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Of the queues, see controllerMetrics. */
  readonly metrics: (name: string) => ControllerMetrics;
  /** With which the calls to the driver are recorded: see recordedControllers. */
  readonly calls?: CallLog | undefined;
  /**
   * Other processes of the same kind share the work: the elected one works. Else there is no lease of our own, and the
   * work stops while another installation holds one.
   */
  readonly elects: boolean;
  /** Where the lease is. Default: kube-system. */
  readonly leaseNamespace?: string | undefined;
}

export interface SnapshotControllerRun extends RunOptions {
  readonly registry?: MetricsRegistry | undefined;
}

/** Until the signal aborts. */
export async function runSnapshotController(options: SnapshotControllerRun, signal: AbortSignal): Promise<void> {
  const { registry, client } = options;
  const operations = registry === undefined ? undefined : operationMetrics(registry);
  await underLease("snapshot-controller-leader", options, signal, async (running) => {
    const groups = await servesGroups(client, running);
    const controllers = [snapshotController({ groups, operations }), contentController()];
    const ofGroups = groups ? [groupController({ operations }), groupContentController()] : [];
    await runAll([...controllers, ...ofGroups], options, running);
  });
}

/** Until the signal aborts. */
export async function runSnapshotter(
  options: RunOptions & { readonly snapshotter: SnapshotterOptions },
  signal: AbortSignal,
): Promise<void> {
  const { snapshotter, client } = options;
  const { driverName } = snapshotter.controllers;
  await underLease(snapshotterLease(driverName), options, signal, async (running) => {
    const groups = await servesGroups(client, running);
    const ofGroups = groups ? [groupContentSnapshotter(snapshotter)] : [];
    await runAll([contentSnapshotter(snapshotter), ...ofGroups], options, running);
  });
}

/** As upstream's library makes it of a driver's name. */
export function snapshotterLease(driverName: string): string {
  return `external-snapshotter-leader-${driverName.replace(/[^a-zA-Z0-9-]/g, "-")}`;
}

async function underLease(
  lease: string,
  options: RunOptions,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { client, clock, random, log, instance, elects, leaseNamespace = NAMESPACE } = options;
  if (!elects) return whileAlone({ client, lease, clock, log }, signal, work);
  const identity = `${instance}_${Buffer.from(random.bytes(8)).toString("hex")}`;
  const leases = client.of(kinds.Lease).in(leaseNamespace);
  await leadElected({ leases, name: lease, identity, clock, random, log }, signal, work);
}

function runAll(controllers: readonly Controller[], options: RunOptions, signal: AbortSignal): Promise<void> {
  const { client, instance, clock, random, log, metrics, calls } = options;
  const clients = { client, clientOf: () => client };
  return runControllers({ controllers, ...clients, instance, clock, random, log, metrics, calls }, signal);
}

/** An older installation of the definitions may not have them. */
async function servesGroups(client: Client, signal: AbortSignal): Promise<boolean> {
  const { apiVersion, plural } = groupKinds.VolumeGroupSnapshot;
  try {
    const text = await client.text(`/apis/${apiVersion}`, { signal, accept: "application/json" });
    const { resources = [] } = JSON.parse(text) as { readonly resources?: readonly { readonly name: string }[] };
    return resources.some(({ name }) => name === plural);
  } catch (error) {
    if (isStatusError(error, "NotFound")) return false;
    throw error;
  }
}
