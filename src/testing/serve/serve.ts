/**
 * A cluster for tests in any language: in memory, on a port of loopback, its time under control, gone with its process.
 */
import type { Clock, Logger } from "#base";
import { startControlled } from "../cluster/cluster.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { ClusterControl } from "./control.ts";

export interface ServeOptions extends Omit<ClusterOptions, "operators" | "images" | "usage"> {
  readonly port: number;
  /** Whether time flows, as on the wall. Otherwise it stands still until it is moved. */
  readonly flows: boolean;
  readonly log: Logger;
}

export interface ServedCluster {
  readonly url: string;
  /** The file. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

export async function serveCluster(options: ServeOptions, real: Clock): Promise<ServedCluster> {
  const { flows, log } = options;
  const failed = (error: unknown) => log.error("time does not flow any more", { error });
  const cluster = await startControlled(options, new ClusterControl({ real, flows, failed }));
  const { url = "", kubeconfig = "" } = cluster;
  return { url, kubeconfig, stop: () => cluster.stop() };
}
