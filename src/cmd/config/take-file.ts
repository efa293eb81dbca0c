/** Makes a Cluster file's settings the options of a command, as if they had been flags. */
import type { Command } from "commander";
import { ClusterError, nodeTools } from "#cluster";
import type { ClusterFile } from "./cluster-file.ts";

const RUNTIMES = { real: "containerd", simulated: "simulated" } as const;

/** Throws ClusterError for a flag that the file sets, too. */
export async function takeClusterFile(command: Command, path: string): Promise<ClusterFile> {
  // Most clusters have none.
  const { readClusterFile } = await import("./cluster-file.ts");
  const file = await readClusterFile(path);
  const { findProgram } = await nodeTools();
  if (file.initial.charts.length > 0 && findProgram("helm") === undefined)
    throw new ClusterError(`--config ${path}: charts need helm on PATH: install it, or take them out.`);
  const nodes = file.nodes === undefined ? [] : [`--nodes=${file.nodes.length}`];
  const runtime = file.kind === undefined ? [] : [`--runtime=${RUNTIMES[file.kind]}`];
  for (const flag of [...file.flags, ...nodes, ...runtime]) {
    const [long = ""] = flag.split("=");
    const option = command.options.find((each) => each.long === long);
    if (option !== undefined && command.getOptionValueSource(option.attributeName()) === "cli")
      throw new ClusterError(`${long} and --config ${path} both say it: give one.`);
  }
  // The same checks as of the command line.
  command.parseOptions([...file.flags, ...nodes, ...runtime]);
  return file;
}
