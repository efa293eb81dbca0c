/**
 * `k8ts`: starts and stops clusters, the same as those of `k8ts up`.
 *
 *     const cluster = await startCluster({ nodes: 2 });
 *     … cluster.client, cluster.kubeconfig …
 *     await cluster.stop();
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, realClock, silentLogger } from "#base";
import type { Client } from "#client";
import { type StoreConfig, startCluster as start } from "#cluster";
import { connect } from "./client.ts";

export { ClusterError, type StoreConfig } from "#cluster";

export interface ClusterOptions {
  /** How many simulated nodes. Default: one. */
  readonly nodes?: number | undefined;
  /** Default: in memory, and everything is gone when the cluster stops. */
  readonly store?: StoreConfig | undefined;
  /** Where the cluster keeps its files. Default: a temporary folder, removed when the cluster stops. */
  readonly dataDir?: string | undefined;
  /** The port on loopback. Default: a free one. */
  readonly port?: number | undefined;
  /** Which controllers run, as in `--controllers`. Default: all that are on by default. */
  readonly controllers?: readonly string[] | undefined;
  /** Default: true. */
  readonly scheduler?: boolean | undefined;
  /** Default: nothing is logged. */
  readonly log?: Logger | undefined;
}

export interface RunningCluster extends AsyncDisposable {
  readonly url: string;
  /** A file, for kubectl and other clients. */
  readonly kubeconfig: string;
  /** An administrator's client. */
  readonly client: Client;
  stop(): Promise<void>;
}

/** Resolves when the cluster is ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<RunningCluster> {
  const { nodes = 1, store = { kind: "memory" }, port = 0, controllers, scheduler, log = silentLogger } = options;
  await using starting = new AsyncDisposableStack();
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "k8ts-")));
  if (options.dataDir === undefined) starting.defer(() => rm(dataDir, { recursive: true, force: true }));
  const cluster = await start(
    {
      dataDir,
      bindAddress: "127.0.0.1",
      port,
      store,
      controllers,
      scheduler,
      nodes: nodes === 0 ? undefined : { count: nodes },
      // The user's own kubeconfig stays as it is.
      mergeInto: join(dataDir, "contexts"),
    },
    { clock: realClock(), log, progress: () => {} },
  );
  starting.defer(() => cluster.stop());
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  starting.defer(() => client.close());
  const parts = starting.move();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= parts.disposeAsync();
    return stopped;
  };
  return { url: cluster.url, kubeconfig: cluster.kubeconfig, client, stop, [Symbol.asyncDispose]: stop };
}
