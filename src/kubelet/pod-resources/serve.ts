/** Serves the PodResources API at a socket of the node, for tools that monitor devices. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Features } from "#api";
import { abortable, type Clock, isAbort, type Logger } from "#base";
import { GrpcError, servedService, serveGrpc } from "#grpc";
import { CallRate } from "./call-rate.ts";
import { alphaPodResourcesMethods, podResourcesMethods } from "./messages.ts";
import { allocatableResources, type PodResourcesSource, podResources } from "./pod-resources.ts";
import type { Endpoint, PodResourcesMetrics, Version } from "./pod-resources-metrics.ts";

export interface PodResourcesServerOptions {
  readonly source: PodResourcesSource;
  /** The folder of the socket. */
  readonly dir: string;
  readonly features: Features;
  readonly metrics: PodResourcesMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function servePodResources(options: PodResourcesServerOptions, signal: AbortSignal): Promise<void> {
  const { source, dir, features, metrics, clock, log } = options;
  const rate = new CallRate(clock);
  const answer = async <T>(endpoint: Endpoint, version: Version, work: () => T): Promise<T> => {
    rate.take();
    metrics.requested(endpoint, version);
    try {
      return work();
    } catch (error) {
      metrics.failed(endpoint, version);
      throw error;
    }
  };
  const list = () => ({ podResources: source.pods().map((pod) => podResources(pod, source)) });
  const service = servedService(podResourcesMethods(), {
    List: () => answer("list", "v1", list),
    GetAllocatableResources: () => answer("get_allocatable", "v1", () => allocatableResources(source)),
    Get: ({ podName, podNamespace }) =>
      answer("get", "v1", () => {
        if (!features.enabled("KubeletPodResourcesGet"))
          throw new GrpcError("UNKNOWN", "PodResources API Get method disabled");
        const found = source
          .pods()
          .find(({ metadata: { name, namespace } }) => name === podName && namespace === podNamespace);
        if (found === undefined)
          throw new GrpcError("UNKNOWN", `pod ${podName} in namespace ${podNamespace} not found`);
        return { podResources: podResources(found, source) };
      }),
  });
  const alpha = servedService(alphaPodResourcesMethods(), { List: () => answer("list", "v1alpha1", list) });
  await mkdir(dir, { recursive: true, mode: 0o750 });
  const server = await serveGrpc(`unix://${join(dir, "kubelet.sock")}`, [service, alpha], {
    clock,
    graceMs: 0,
    onError: (path, error) => log.error("a call of the PodResources API failed", { path, error }),
  });
  try {
    await abortable(new Promise<never>(() => {}), signal);
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  } finally {
    await server.close();
  }
}
