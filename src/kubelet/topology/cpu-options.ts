/** cpuManagerPolicyOptions, checked with upstream's words. Pure. */
import { type MachineTopology, numaNodesOf } from "./machine-topology.ts";
import { isTrue, knownOption, type OptionLevels } from "./policy-options.ts";

export interface CpuOptions {
  readonly fullPhysicalCpusOnly: boolean;
  readonly distributeAcrossNuma: boolean;
  readonly distributeAcrossCores: boolean;
  readonly alignBySocket: boolean;
  readonly strictReservation: boolean;
  readonly preferUncoreCache: boolean;
}

const LEVELS: OptionLevels = {
  kind: "CPU Manager Policy",
  gate: "CPUManagerPolicy",
  stable: ["full-pcpus-only", "strict-cpu-reservation"],
  beta: ["distribute-cpus-across-numa", "prefer-align-cpus-by-uncorecache"],
  alpha: ["align-by-socket", "distribute-cpus-across-cores"],
};

/** Throws Error. */
export function readCpuOptions(
  given: Readonly<Record<string, string>>,
  enabled: (gate: string) => boolean,
): CpuOptions {
  const is = (name: string) => given[name] !== undefined && isTrue(name, given[name]);
  for (const name of Object.keys(given)) knownOption(LEVELS, name, enabled);
  const options: CpuOptions = {
    fullPhysicalCpusOnly: is("full-pcpus-only"),
    distributeAcrossNuma: is("distribute-cpus-across-numa"),
    distributeAcrossCores: is("distribute-cpus-across-cores"),
    alignBySocket: is("align-by-socket"),
    strictReservation: is("strict-cpu-reservation"),
    preferUncoreCache: is("prefer-align-cpus-by-uncorecache"),
  };
  const { fullPhysicalCpusOnly, distributeAcrossCores, distributeAcrossNuma, preferUncoreCache } = options;
  if (fullPhysicalCpusOnly && distributeAcrossCores)
    throw new Error(
      "static policy options full-pcpus-only and distribute-cpus-across-cores can not be used at the same time",
    );
  if (preferUncoreCache && distributeAcrossCores)
    throw new Error(
      "static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-cores can not be used at the same time",
    );
  if (preferUncoreCache && distributeAcrossNuma)
    throw new Error(
      "static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-numa can not be used at the same time",
    );
  return options;
}

/** What does not go together with the machine or the topology manager. Throws Error. */
export function checkCpuOptions({ alignBySocket }: CpuOptions, topology: MachineTopology, policy: string): void {
  if (!alignBySocket) return;
  if (policy === "single-numa-node")
    throw new Error(
      "Topolgy manager Single numa policy is incompatible with CPUManager Align  by socket policy option",
    );
  const sockets = new Set([...topology.cpus.values()].map(({ socket }) => socket)).size;
  if (sockets > numaNodesOf(topology).length)
    throw new Error(
      "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA",
    );
}
