/**
 * Where the controller service of a CSI driver is. A driver in a Deployment has one for all nodes; a node-local driver
 * has one on each node, and a volume is reached on the node that has it.
 */
import type { CsiDriver } from "../csi/index.ts";

export interface DriverControllers {
  readonly driverName: string;
  /** Topology key whose value is a node's name, for a driver with a controller on each node. */
  readonly nodeTopologyKey?: string | undefined;
  /** The nodes that have a controller now; undefined if there is one for all. */
  nodes(): readonly string[] | undefined;
  /** `node`: ignored if there is one for all. Undefined while it is not reachable. */
  of(node: string | undefined): CsiDriver | undefined;
  onChange(listener: () => void): () => void;
}

/** A driver with one controller for all nodes. */
export function oneForAll(driverName: string, driver: CsiDriver): DriverControllers {
  return { driverName, nodes: () => undefined, of: () => driver, onChange: () => () => {} };
}

/** A driver with a controller on each of these nodes, always reachable. Each is opened when it is needed. */
export function onEachOf(
  { driverName, nodeTopologyKey }: Required<Pick<DriverControllers, "driverName" | "nodeTopologyKey">>,
  nodes: readonly string[],
  open: (node: string) => CsiDriver,
): DriverControllers {
  const opened = new Map<string, CsiDriver>();
  const known = new Set(nodes);
  return {
    driverName,
    nodeTopologyKey,
    nodes: () => nodes,
    of(node) {
      if (node === undefined || !known.has(node)) return undefined;
      const driver = opened.get(node) ?? open(node);
      opened.set(node, driver);
      return driver;
    },
    onChange: () => () => {},
  };
}
