/** `k8ts/client`: a typed client of any Kubernetes cluster, and informers for all kinds. */
import { type Logger, realClock, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, https, Informers } from "#client";
import { readKubeconfig, userKubeconfigPath } from "#pki";

export { clusterWide, kinds, namespaced, StatusError } from "#api";
export type { Clock, Logger, Random } from "#base";
export { createLogger, realClock, silentLogger, systemRandom } from "#base";
export {
  type ApplyOptions,
  type CallOptions,
  type Change,
  Client,
  type ClientOptions,
  type DeleteOptions,
  discoverResources,
  type EventRecorder,
  eventRecorder,
  type GetOptions,
  type Handler,
  type HttpsConnection,
  https,
  Informer,
  type InformerOptions,
  Informers,
  type InformersOptions,
  type LeaderElectionOptions,
  type List,
  type ListOptions,
  leadElected,
  objectKey,
  type Patch,
  type ReadonlyCache,
  type ResourceClient,
  type ResourceName,
  type ResourceOf,
  type SubresourceClient,
  type Transport,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "#client";

export interface ConnectOptions {
  /** Default: the file that kubectl would use. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  /** The part before the slash is the default field manager. Default: k8ts. */
  readonly userAgent?: string | undefined;
}

/** A client of the cluster in a kubeconfig. */
export async function connect({ kubeconfig, context, userAgent = "k8ts" }: ConnectOptions = {}): Promise<Client> {
  const file = kubeconfig ?? userKubeconfigPath(process.env);
  const { client = {}, ...connection } = await readKubeconfig(file, context === undefined ? {} : { context });
  const clock = realClock();
  return new Client({ transport: https({ ...connection, ...client }, { clock }), clock, userAgent });
}

export interface RunningInformers extends AsyncDisposable {
  readonly informers: Informers;
  stop(): Promise<void>;
}

/** Informers on real time, each started on first use; `stop` ends all of them. */
export function startInformers(
  client: Client,
  { log = silentLogger }: { readonly log?: Logger } = {},
): RunningInformers {
  const tasks = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} failed`, { error }) });
  const informers = new Informers({ client, clock: realClock(), random: systemRandom(), log, tasks });
  const stop = () => tasks.stop();
  return { informers, stop, [Symbol.asyncDispose]: stop };
}
