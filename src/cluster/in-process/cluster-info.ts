/** Publishes kube-public/cluster-info for joining nodes, once at each start, as the cluster's admin. */
import type { Clock, Logger } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import { type ClusterAddress, publishClusterInfo } from "#controllers";

const ADMIN = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

export interface ClusterInfoOptions extends ClusterAddress {
  readonly handle: InProcessHandle;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Errors are only logged: without it, nodes cannot join by token, but the cluster works. */
export async function publishOwnInfo(options: ClusterInfoOptions, signal: AbortSignal): Promise<void> {
  const { handle, clock, log, server, caPem } = options;
  const client = new Client({ transport: inProcess(handle, ADMIN), clock, userAgent: "k8ts" });
  try {
    await publishClusterInfo(client, { server, caPem }, signal);
  } catch (error) {
    if (!signal.aborted) log.error("kube-public/cluster-info could not be written", { error });
  } finally {
    await client.close();
  }
}
