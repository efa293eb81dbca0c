/** The resource metrics API in its own process, like metrics-server: configured by flags and files. */
import { type KubeObject, kinds } from "#api";
import type { RequestTarget } from "#base";
import type { ResourceOf } from "#client";
import type { Environment } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { readFlag } from "../config/flag-files.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";
import type { ComponentServing } from "./component-server.ts";
import type { Attributes } from "./delegated-access.ts";
import { frontProxyOf, serveExtension } from "./extension-server.ts";

const NAME = "metrics-server";
const GROUP = "metrics.k8s.io";

export interface StandaloneMetricsServerConfig extends Omit<ComponentConfig, "name" | "serving" | "election"> {
  readonly serving: ComponentServing;
  readonly resolutionMs: number;
  readonly nodeSelector?: string | undefined;
  readonly kubelet: KubeletFlags;
}

export interface KubeletFlags {
  readonly timeoutMs: number;
  /** Undefined: that of the Node's status. */
  readonly port?: number | undefined;
  readonly addressTypes: readonly string[];
  readonly insecureTls: boolean;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Runs until the signal aborts. */
export async function runStandaloneMetricsServer(
  config: StandaloneMetricsServerConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { kubeletScraper, MetricsServer } = await import("#metrics");
  const { serving, resolutionMs, nodeSelector, kubelet, ...component } = config;
  const files = await filesOf(kubelet);
  const prepare = ({ client, connection, random, metrics }: Component): Work => {
    const own = connection.certPem !== undefined && connection.keyPem !== undefined;
    const kubelets = kubeletScraper({
      clock,
      timeoutMs: kubelet.timeoutMs,
      insecure: kubelet.insecureTls,
      port: kubelet.port,
      addressTypes: kubelet.addressTypes,
      ca: files.ca ?? connection.caPem,
      certificate:
        files.identity ??
        (own ? () => ({ certPem: connection.certPem ?? "", keyPem: connection.keyPem ?? "" }) : undefined),
      token: () => connection.token,
    });
    return async (running) => {
      const server = new MetricsServer({
        client,
        pods: client.metadataOf(kinds.Pod as unknown as ResourceOf<KubeObject>),
        scrape: kubelets.scrape,
        resolutionMs,
        nodeSelector,
        clock,
        random,
        log,
      });
      await using parts = new AsyncDisposableStack();
      parts.defer(() => kubelets.close());
      const frontProxy = await frontProxyOf({ client, clock, log }, running);
      if (frontProxy === undefined) return;
      const readiness = [
        {
          name: "metric-storage-ready",
          check: async () => {
            if (!server.isReady) throw new Error("no metrics to serve");
          },
        },
      ];
      const answering = { name: NAME, client, metrics, clock, log, readiness, frontProxy, attributesOf };
      const served = await serveExtension(serving, { ...answering, answer: (request) => server.answer(request) });
      parts.defer(() => served.close());
      log.info("serving the resource metrics API", { address: serving.bindAddress, port: served.port });
      await server.run(running);
    };
  };
  await runComponent({ ...component, name: NAME }, { clock, log }, prepare, signal);
}

/** What the caller must be allowed to do. */
export function attributesOf(method: string, { path, query }: RequestTarget): Attributes {
  const match = /^\/apis\/metrics\.k8s\.io\/v1beta1\/(?:namespaces\/([^/]+)\/)?(pods|nodes)(?:\/([^/]+))?$/.exec(path);
  if (match === null) return { path, verb: method.toLowerCase() };
  const [, namespace, resource = "", name] = match;
  const reads = name !== undefined ? "get" : query.get("watch") === "true" ? "watch" : "list";
  return {
    group: GROUP,
    version: "v1beta1",
    resource,
    verb: method === "GET" || method === "HEAD" ? reads : method.toLowerCase(),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
}

async function filesOf({ caFile, certFile, keyFile }: KubeletFlags) {
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new ClusterError("--kubelet-client-certificate and --kubelet-client-key belong together: give both or none.");
  const ca = caFile === undefined ? undefined : await readFlag("--kubelet-certificate-authority", caFile);
  if (certFile === undefined || keyFile === undefined) return { ca, identity: undefined };
  const certPem = await readFlag("--kubelet-client-certificate", certFile);
  const keyPem = await readFlag("--kubelet-client-key", keyFile);
  return { ca, identity: () => ({ certPem, keyPem }) };
}
