/**
 * A cluster for tests in any language: in memory, on a port of loopback, its time under control, gone with its process.
 */
import type { Clock, Logger } from "#base";
import { startControlled, type TestCluster } from "../cluster/cluster.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import type { Connection } from "../cluster/port.ts";
import { ClusterControl } from "./control.ts";

export interface ServeOptions extends Omit<ClusterOptions, "operators" | "images" | "usage"> {
  readonly port: number;
  /** Whether time flows, as on the wall. Otherwise it stands still until it is moved. */
  readonly flows: boolean;
  readonly log: Logger;
}

export interface ServedCluster {
  readonly connection: Connection;
  /** Resolves when all nodes are Ready, custom resources are served and manifests are applied. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when the API server answers. */
export async function serveCluster(options: ServeOptions, real: Clock): Promise<ServedCluster> {
  const { flows, log } = options;
  const failed = (error: unknown) => log.error("time does not flow any more", { error });
  const opened = Promise.withResolvers<TestCluster>();
  const control = new ClusterControl({ real, flows, failed, opened: opened.resolve });
  const starting = startControlled(options, control);
  starting.catch(opened.reject);
  const cluster = await opened.promise;
  const { connection } = cluster;
  if (connection === undefined) throw new Error("the cluster has no port");
  const ready = starting.then(() => {});
  return {
    ...{ connection, ready },
    async stop() {
      await Promise.allSettled([starting]);
      await cluster.stop();
    },
  };
}
