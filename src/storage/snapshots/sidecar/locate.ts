/**
 * On which node a driver with a controller on each node has a snapshot.
 *
 * 1. It is written on the content, else it follows from the topology of the source volume.
 * 2. For a snapshot that was there before, the drivers are asked in turn; the answer is written down.
 */
import type { core, KubeObject } from "#api";
import type { CsiDriver } from "../../csi/index.ts";
import type { DriverControllers } from "../../sidecars/driver-controllers.ts";
import { writtenNode } from "../objects/names.ts";

export type FindVolume = (volumeHandle: string) => core.PersistentVolume | undefined;

/** The node of a volume, by its required topology; undefined if that names none or several. */
export function nodeOfVolume(volume: core.PersistentVolume | undefined, topologyKey: string): string | undefined {
  const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const names = terms.flatMap(({ matchExpressions = [] }) =>
    matchExpressions
      .filter(({ key, operator }) => key === topologyKey && operator === "In")
      .flatMap(({ values = [] }) => values),
  );
  const [name, ...others] = new Set(names);
  return others.length === 0 ? name : undefined;
}

/** The node by the objects alone; undefined if there is one controller for all, or if it is not known. */
export function knownNode(
  content: KubeObject,
  volumeHandle: string | undefined,
  controllers: DriverControllers,
  volumeOf: FindVolume,
): string | undefined {
  if (controllers.nodes() === undefined) return undefined;
  const written = writtenNode(content);
  if (written !== undefined) return written;
  const { nodeTopologyKey } = controllers;
  if (volumeHandle === undefined || nodeTopologyKey === undefined) return undefined;
  return nodeOfVolume(volumeOf(volumeHandle), nodeTopologyKey);
}

/** Throws if the driver is not reachable there: nothing was asked of it. */
export function driverOn(node: string | undefined, controllers: DriverControllers): CsiDriver {
  const driver = controllers.of(node);
  if (driver !== undefined) return driver;
  const place = node === undefined ? "" : ` on node ${node}`;
  throw new Error(`the CSI driver ${controllers.driverName} is not reachable${place}`);
}

/** Asks each node's driver; the first that succeeds has it. */
export async function searched<T>(
  controllers: DriverControllers,
  ask: (driver: CsiDriver) => Promise<T>,
  signal: AbortSignal,
): Promise<{ readonly node: string; readonly found: T }> {
  let last: unknown = new Error(`the CSI driver ${controllers.driverName} is on no node`);
  for (const node of controllers.nodes() ?? []) {
    signal.throwIfAborted();
    try {
      return { node, found: await ask(driverOn(node, controllers)) };
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
