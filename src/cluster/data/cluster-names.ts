/**
 * Clusters by name: `default` in the home directory itself, all others in folders of it.
 *
 *     ~/.k8ts/          the cluster `default`: context k8ts
 *     ~/.k8ts/NAME/     the cluster NAME: context k8ts-NAME
 *     --data-dir DIR    elsewhere: context k8ts, and no name
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { checkDns1123Label } from "#api";
import { type DataDir, dataDir, isOwnFile } from "./data-dir.ts";

export const DEFAULT_CLUSTER = "default";

/** Clusters may not be named like what lies beside them: names that are used now, and some for later. */
const RESERVED = ["images", "registry", "charts"];

export function homeDir(env: NodeJS.ProcessEnv): string {
  return resolve(env.K8TS_HOME || join(homedir(), ".k8ts"));
}

/** Why a name is invalid, as a sentence. */
export function clusterNameProblem(name: string): string | undefined {
  if (checkDns1123Label(name).length > 0)
    return `${JSON.stringify(name)} is not a name for a cluster: use lower-case letters, digits and hyphens, at most 63 characters.`;
  if (isOwnFile(name) || RESERVED.includes(name))
    return `${JSON.stringify(name)} is no name for a cluster: a file beside it has it.`;
  return undefined;
}

/** The directory of a cluster, by its name. */
export function namedDataDir(name: string, env: NodeJS.ProcessEnv): DataDir {
  return dataDirAt(name === DEFAULT_CLUSTER ? homeDir(env) : join(homeDir(env), name), env);
}

/** A directory, with the name of the cluster if it is at its place. */
export function dataDirAt(path: string, env: NodeJS.ProcessEnv): DataDir {
  const home = homeDir(env);
  if (path === home) return dataDir(path, DEFAULT_CLUSTER);
  const isNamed = dirname(path) === home && clusterNameProblem(basename(path)) === undefined;
  return dataDir(path, isNamed ? basename(path) : undefined);
}

/** Of the context, the cluster and the user in kubeconfigs. */
export function contextName(name: string | undefined): string {
  return name === undefined || name === DEFAULT_CLUSTER ? "k8ts" : `k8ts-${name}`;
}

/** The clusters of the home directory: the default one first. */
export async function listClusters(env: NodeJS.ProcessEnv): Promise<DataDir[]> {
  const entries = await readdir(homeDir(env), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return [DEFAULT_CLUSTER, ...names.sort()]
    .filter((name) => clusterNameProblem(name) === undefined)
    .map((name) => namedDataDir(name, env))
    .filter(({ marker }) => existsSync(marker));
}
