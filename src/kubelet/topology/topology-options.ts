/** topologyManagerPolicyOptions, checked with upstream's words. Pure. */
import { type MachineTopology, numaNodesOf } from "./machine-topology.ts";
import { isTrue, knownOption, type OptionLevels } from "./policy-options.ts";

export interface TopologyOptions {
  readonly preferClosestNuma: boolean;
  readonly maxNumaNodes: number;
}

const DEFAULT_MAX_NODES = 8;

const LEVELS: OptionLevels = {
  kind: "Topology Manager Policy",
  gate: "TopologyManagerPolicy",
  stable: ["prefer-closest-numa-nodes", "max-allowable-numa-nodes"],
  beta: [],
  alpha: [],
};

/** Throws Error. */
export function readTopologyOptions(
  given: Readonly<Record<string, string>>,
  enabled: (gate: string) => boolean,
): TopologyOptions {
  for (const name of Object.keys(given)) knownOption(LEVELS, name, enabled);
  const { "prefer-closest-numa-nodes": closest, "max-allowable-numa-nodes": most } = given;
  if (most !== undefined && !/^[+-]?\d+$/.test(most))
    throw new Error(
      `unable to convert policy option to integer "max-allowable-numa-nodes": strconv.Atoi: parsing "${most}": invalid syntax`,
    );
  if (most !== undefined && Number(most) < DEFAULT_MAX_NODES)
    throw new Error(`the minimum value of "max-allowable-numa-nodes" should not be less than ${DEFAULT_MAX_NODES}`);
  return {
    preferClosestNuma: closest !== undefined && isTrue("prefer-closest-numa-nodes", closest),
    maxNumaNodes: most === undefined ? DEFAULT_MAX_NODES : Number(most),
  };
}

/** Every combination of NUMA nodes is looked at: that takes long on a machine with many. Throws Error. */
export function checkNumaNodes(policy: string, topology: MachineTopology, { maxNumaNodes }: TopologyOptions): void {
  if (policy !== "none" && numaNodesOf(topology).length > maxNumaNodes)
    throw new Error(`unsupported on machines with more than ${maxNumaNodes} NUMA Nodes`);
}
