/**
 * A serving thread besides the first: an API server over the store of the first thread. See
 * `threads/server-threads.ts`.
 */
import { workerData } from "node:worker_threads";
import type { ApiRequest, ApiResponse } from "#apiserver";
import { MetricsRegistry, realClock, systemRandom, type TaskFailure, TaskGroup } from "#base";
import { openRemoteStore, type RemoteStore } from "#store";
import { readFeatures } from "./config/features.ts";
import { openTracing } from "./config/tracing.ts";
import { type ServerOfCluster, startClusterApiServer } from "./in-process/api-server.ts";
import { type StandaloneServer, startStandaloneApiServer } from "./standalone/api-server.ts";
import { FirstThread, type FirstThreadEvents } from "./threads/first-thread.ts";
import { PassingRecorder } from "./threads/passing-recorder.ts";
import type { ThreadData } from "./threads/protocol.ts";
import type { ThreadShare } from "./threads/thread-share.ts";

const data = workerData as ThreadData;
const first = new FirstThread(data.first, data.verbosity);
const { log } = first;
const clock = realClock();
const random = systemRandom();
const NODE_PROXY = /^\/api\/v1\/nodes\/[^/]+\/proxy(\/|$)/;

try {
  await serve();
} catch (error) {
  first.failed(error);
  throw error;
}

async function serve(): Promise<void> {
  const server = data.server as ServerOfCluster | StandaloneServer;
  await using starting = new AsyncDisposableStack();
  const store = await openRemoteStore(data.store);
  starting.defer(() => store.close());
  const recorder = new PassingRecorder(clock, (records) => first.records(records));
  starting.defer(() => recorder.flush());
  const { renewed, metrics } = await (server.kind === "cluster"
    ? startInCluster(server, store, recorder, starting)
    : startAlone(server, store, recorder, starting));
  const parts = starting.move();
  const stop = () => void parts.disposeAsync().finally(() => first.close());
  first.listen({ renewed, metrics, stop });
  first.serving();
}

type Started = Pick<FirstThreadEvents, "renewed" | "metrics">;

async function startInCluster(
  { config, pki, extensions, ...server }: ServerOfCluster,
  store: RemoteStore,
  recorder: PassingRecorder,
  starting: AsyncDisposableStack,
): Promise<Started> {
  const metrics = new MetricsRegistry();
  metrics.describeItself();
  const tracing = await openTracing(config.tracingConfigFile, { clock, log, metrics }, starting);
  const api = await startClusterApiServer(
    {
      ...{ config, pki, store, tracing, ...server, metrics, clock, random, log },
      ports: [data.port],
      flowRecordsFile: "",
      features: readFeatures(config.features),
      extensions: first.extensions(extensions),
      // Asked of the first thread: see `elsewhere`.
      simulatedMetrics: () => undefined,
      threads: shareOf(store, recorder, config.flowRecords !== "off", config.nodes !== undefined),
    },
    starting,
  );
  const onFailure = ({ task, error }: TaskFailure) => log.error(`${task} failed and is restarted`, { error });
  const background = new TaskGroup({ onFailure, restart: { clock, random } });
  starting.defer(() => background.stop());
  api.follow(background);
  return { renewed: (pki) => api.renewCertificates(pki), metrics: () => metrics.text() };
}

async function startAlone(
  { config }: StandaloneServer,
  store: RemoteStore,
  recorder: PassingRecorder,
  starting: AsyncDisposableStack,
): Promise<Started> {
  const metrics = new MetricsRegistry(config.metrics);
  metrics.describeItself();
  const share = shareOf(store, recorder, config.flowRecords !== "off", false);
  const environment = { clock, log, progress: () => {} };
  const other = { port: data.port, store, isShared: store.isShared, share, metrics };
  const server = await startStandaloneApiServer(config, environment, other);
  starting.defer(() => server.stop());
  // It follows the files of its certificates itself.
  return { renewed: () => {}, metrics: () => metrics.text() };
}

function shareOf(
  store: RemoteStore,
  recorder: PassingRecorder,
  records: boolean,
  simulatesNodes: boolean,
): ThreadShare {
  const { count, startedMs } = data;
  return {
    count,
    startedMs,
    recorder: records ? recorder : undefined,
    thread: {
      newest: () => store.newest(),
      isFirst: false,
      elsewhere: (request) => elsewhere(request, simulatesNodes),
      auditLog: (lines) => first.writeAuditLines(lines),
    },
  };
}

/** What only the first thread knows: flow records, decisions of its scheduler, metrics of all, its simulated nodes. */
function elsewhere(request: ApiRequest, simulatesNodes: boolean): Promise<ApiResponse> | undefined {
  const { path } = request;
  const isFirsts = path.startsWith("/k8ts/") || path === "/metrics" || (simulatesNodes && NODE_PROXY.test(path));
  return isFirsts ? first.answer(request) : undefined;
}
