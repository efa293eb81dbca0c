/**
 * run.json: how other commands find the running cluster of a data directory. Valid only while the lock is held.
 * last.json: what the last start chose. It stays.
 */
import { readFile } from "node:fs/promises";
import type { ListenConfig, NodesConfig } from "../config/cluster-config.ts";
import { type DataDir, isInUse } from "./data-dir.ts";

export interface RunState {
  readonly pid: number;
  readonly url: string;
  readonly store: string;
  readonly version: string;
  readonly startedAt: string;
  /** Of a machine that joined: its node, and whose. */
  readonly joined?: { readonly nodeName: string; readonly clusterName: string };
  /** The user's kubeconfig with this cluster's context. */
  readonly mergedInto?: string;
}

export type Running = { readonly running: false } | { readonly running: true; readonly state: RunState | undefined };

/** `state` is undefined while the cluster is starting or stopping. */
export async function findRunning(dir: DataDir): Promise<Running> {
  if (!isInUse(dir)) return { running: false };
  return { running: true, state: await readRunState(dir) };
}

export async function readRunState(dir: DataDir): Promise<RunState | undefined> {
  try {
    return JSON.parse(await readFile(dir.run, "utf8")) as RunState;
  } catch {
    return undefined; // absent, or being replaced: the lock alone says whether a cluster runs
  }
}

export interface LastStart {
  /** Of the API server: clients and nodes know it. */
  readonly port: number;
  readonly version: string;
  /** The user's kubeconfig that was given, or found. */
  readonly mergeInto: string;
  /** Where other machines reach the API server. */
  readonly listen?: ListenConfig | undefined;
  /** More names in the API server's certificate. */
  readonly tlsSans?: readonly string[] | undefined;
  /** With --listen: all control planes have the same. */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** Simulated nodes. Undefined: the cluster had real ones, which have their records. */
  readonly nodes?: NodesConfig | undefined;
}

export async function readLastStart(dir: DataDir): Promise<LastStart | undefined> {
  try {
    return JSON.parse(await readFile(dir.last, "utf8")) as LastStart;
  } catch {
    return undefined; // there was none
  }
}
