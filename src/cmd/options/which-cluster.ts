/**
 * Which cluster a command is about.
 *
 *     NAME (up, down, reset, status) or --cluster NAME ──► --data-dir DIR ──► K8TS_CLUSTER ──► default
 *
 * 1. Every command that takes --data-dir takes --cluster: program.ts adds it.
 * 2. A name and a directory, or two names, contradict each other: they are refused.
 */
import { resolve } from "node:path";
import { type Argument, type Command, createArgument, Option } from "commander";
import { ClusterError, clusterNameProblem, type DataDir, DEFAULT_CLUSTER, dataDirAt, namedDataDir } from "#cluster";

export interface DataDirOption {
  readonly dataDir?: string;
  readonly cluster?: string;
}

const VARIABLE = "K8TS_CLUSTER";

export function dataDirOption(): Option {
  return new Option(
    "--data-dir <dir>",
    "directory with the cluster's state (default: that of the name, in $K8TS_HOME or ~/.k8ts)",
  ).argParser((value: string) => resolve(value));
}

export function clusterOption(): Option {
  return new Option("--cluster <name>", `the cluster, by its name (default: $${VARIABLE}, or \`${DEFAULT_CLUSTER}\`)`);
}

/** For the commands that are about a cluster as a whole. */
export function clusterArgument(): Argument {
  return createArgument("[cluster]", "its name: the same as --cluster");
}

/** Adds `--cluster` to a command and its subcommands. */
export function takeClusterNames(command: Command): void {
  if (command.options.some(({ long }) => long === "--data-dir")) command.addOption(clusterOption());
  for (const each of command.commands) takeClusterNames(each);
}

/** `argument`: the name as an argument. Throws ClusterError. */
export function dataDirOf(
  { dataDir, cluster }: DataDirOption,
  argument?: string,
  env: NodeJS.ProcessEnv = process.env,
): DataDir {
  if (argument !== undefined && cluster !== undefined && argument !== cluster)
    throw new ClusterError(`${argument} and --cluster ${cluster} name two clusters: give one.`);
  const name = argument ?? cluster;
  if (name !== undefined && dataDir !== undefined)
    throw new ClusterError(`${name} and --data-dir ${dataDir} both say which cluster is meant: give one.`);
  if (dataDir !== undefined) return dataDirAt(dataDir, env);
  const chosen = name ?? (env[VARIABLE] || DEFAULT_CLUSTER);
  const problem = clusterNameProblem(chosen);
  if (problem !== undefined) throw new ClusterError(name === undefined ? `${VARIABLE}: ${problem}` : problem);
  return namedDataDir(chosen, env);
}
