/**
 * The controllers of a driver that runs on each real node of this cluster: those nodes whose CSINode names it.
 *
 * 1. A node counts only if it is one of this machine's: the name of any other is no path here.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { storage } from "#api";
import type { Clock } from "#base";
import type { Informer } from "#client";
import type { CsiDriver, DriverControllers } from "#storage";
import { driverBehind } from "./driver-sockets.ts";
import { CSI_SOCKET } from "./programs/csi-driver.ts";
import { type NodeNames, nodeNameProblem, nodeNames, siteNames } from "./site/names.ts";

export interface NodeDriversOptions {
  readonly driverName: string;
  readonly topologyKey: string;
  readonly dataDir: string;
  readonly csiNodes: Pick<Informer<storage.CSINode>, "cache" | "onChange">;
  readonly clock: Clock;
}

export interface NodeDrivers extends DriverControllers {
  close(): void;
}

export function nodeDrivers({ driverName, topologyKey, dataDir, csiNodes, clock }: NodeDriversOptions): NodeDrivers {
  const site = siteNames(dataDir);
  const path = `var/lib/kubelet/plugins/${driverName}/csi.sock`;
  // Of a node with a user namespace it is on the machine.
  const placeOfSocket = ({ diskDir, outsideVolumes: { folder } }: NodeNames) =>
    existsSync(join(folder, CSI_SOCKET)) ? { dir: folder, path: CSI_SOCKET } : { dir: diskDir, path };
  const drivers = new Map<string, CsiDriver>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const has = ({ metadata, spec }: storage.CSINode) =>
    nodeNameProblem(metadata.name ?? "") === undefined && (spec.drivers ?? []).some(({ name }) => name === driverName);
  const leave = csiNodes.onChange(({ type, object, old }) => {
    const [before, now] = [old !== undefined && has(old), type !== "deleted" && has(object)];
    const name = object.metadata.name ?? "";
    if (before === now) return;
    drivers.get(name)?.close();
    drivers.delete(name);
    tell();
  });
  return {
    driverName,
    nodeTopologyKey: topologyKey,
    nodes: () =>
      csiNodes.cache
        .list()
        .filter(has)
        .map(({ metadata }) => metadata.name ?? ""),
    of(node = "") {
      const csiNode = csiNodes.cache.get(node);
      if (csiNode === undefined || !has(csiNode)) return undefined;
      let driver = drivers.get(node);
      if (driver === undefined) {
        driver = driverBehind({ where: () => placeOfSocket(nodeNames(site, node)), clock, onBack: tell });
        drivers.set(node, driver);
      }
      return driver;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      leave();
      for (const driver of drivers.values()) driver.close();
    },
  };
}
