/** Flags for simulated nodes. */
import { resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { canonicalQuantity, checkDns1123Label, parseQuantity } from "#api";
import { ClusterError, type NodesConfig } from "#cluster";
import { wholeNumber } from "./values.ts";

export interface NodesFlagOptions {
  readonly nodes?: number;
  readonly runtime: "auto" | "containerd" | "simulated";
  readonly nodeCpu?: string;
  readonly nodeMemory?: string;
  readonly nodePods?: number;
  readonly nodeZones?: readonly string[];
  readonly nodeUsage?: string;
}

export function nodesOptions(): readonly Option[] {
  return [
    new Option("--nodes <n>", "number of nodes").argParser(wholeNumber(0, 5000)),
    new Option("--runtime <kind>", "container runtime of the nodes")
      .choices(["auto", "containerd", "simulated"])
      .default("auto"),
    new Option("--node-cpu <amount>", "CPUs of each simulated node (default: 8)").argParser(amount),
    new Option("--node-memory <amount>", "memory of each simulated node (default: 32Gi)").argParser(amount),
    new Option("--node-pods <n>", "maximum number of Pods on each simulated node (default: 110)").argParser(
      wholeNumber(1, 10_000),
    ),
    new Option("--node-zones <names>", "zones of simulated nodes, assigned round-robin, comma-separated").argParser(
      zones,
    ),
    new Option(
      "--node-usage <file>",
      "what containers on simulated nodes use: a script of rules, followed while they run",
    ),
  ];
}

/** Undefined: none. `before`: what the cluster had when it last ran; flags override it. */
export function nodesFrom(options: NodesFlagOptions, count: number, before?: NodesConfig): NodesConfig | undefined {
  const { nodeCpu, nodeMemory, nodePods, nodeZones, nodeUsage } = options;
  const facts = {
    ...(nodeCpu !== undefined && { cpu: nodeCpu }),
    ...(nodeMemory !== undefined && { memory: nodeMemory }),
    ...(nodePods !== undefined && { pods: nodePods }),
    ...(nodeZones !== undefined && { zones: nodeZones }),
    ...(nodeUsage !== undefined && { usageFile: resolve(nodeUsage) }),
  };
  if (count > 0) return { ...(options.nodes === undefined && before), ...facts, count };
  if (Object.keys(facts).length > 0)
    throw new ClusterError(
      "--node-cpu, --node-memory, --node-pods, --node-zones and --node-usage apply to simulated nodes: use --runtime simulated --nodes N.",
    );
  return undefined;
}

function amount(value: string): string {
  try {
    if (parseQuantity(value).unscaled > 0n) return canonicalQuantity(value);
  } catch {
    // reported below
  }
  throw new InvalidArgumentError("It must be an amount such as 8, 500m or 32Gi.");
}

function zones(value: string): readonly string[] {
  const names = value.split(",").map((name) => name.trim());
  const wrong = names.find((name) => checkDns1123Label(name).length > 0);
  if (wrong !== undefined)
    throw new InvalidArgumentError(`${JSON.stringify(wrong)} is not a zone name such as a or zone-1.`);
  return names;
}
