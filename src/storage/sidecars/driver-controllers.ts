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
