/**
 * A standalone network agent, like kube-proxy: Services, NetworkPolicies and optionally the cluster DNS of one node. It
 * runs in the node's network namespace.
 */
import { formatMs } from "#api";
import { TaskGroup } from "#base";
import type { NodeNetworkOptions, OverlayMode, ProxyMode, UpstreamAddress } from "#network";
import type { Environment } from "../config/cluster-config.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";
import { componentPages } from "./component-server.ts";
import { type ListenAddress, type ProxyServing, serveProxy } from "./proxy-server.ts";

const NAME = "kube-proxy";
const DEFAULT_RESYNC_MS = 3_600_000;

type ApiBalancer = NonNullable<NodeNetworkOptions["apiBalancer"]>;

export interface StandaloneProxyConfig extends Omit<ComponentConfig, "name" | "election"> {
  readonly nodeName: string;
  readonly clusterCidrs: readonly string[];
  /** Addresses of node ports. Default: the Node's addresses. */
  readonly nodePortAddresses?: readonly string[] | undefined;
  readonly proxyMode?: ProxyMode | undefined;
  readonly networkPolicy: boolean;
  readonly resyncMs?: number | undefined;
  /** Routing to Pods on other nodes. Absent: set up elsewhere. */
  readonly overlay?: OverlayMode | undefined;
  readonly masqueradesOutside?: boolean | undefined;
  /** The balancer before the API servers. Absent: there is none. */
  readonly apiBalancer?: Omit<ApiBalancer, "caPem"> | undefined;
  /** Absent: no DNS. */
  readonly dns?: StandaloneDnsConfig;
  /** Metrics and health. Absent: they are not served. */
  readonly listen?: ProxyServing | undefined;
}

export interface StandaloneDnsConfig {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly zone: string;
  readonly upstreams: readonly UpstreamAddress[];
  readonly stubDomains: Readonly<Record<string, readonly UpstreamAddress[]>>;
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
}

/** Runs until the signal aborts. */
export async function runStandaloneProxy(
  config: StandaloneProxyConfig,
  environment: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { ProxyMetrics, runNodeNetwork } = await import("#network");
  const { listen = {}, flags = {}, proxyMode = "nftables" } = config;
  const prepare = ({ client, connection, clock, random, log, metrics, features }: Component): Work => {
    const proxyMetrics = new ProxyMetrics(metrics, clock);
    const apiBalancer = config.apiBalancer && { ...config.apiBalancer, caPem: connection.caPem };
    const options = { ...config, apiBalancer, client, clock, random, log, metrics, proxyMetrics };
    const reports = { "/configz": () => configz(config) };
    const pages = componentPages({ name: NAME, metrics, clock, log, features, flags, reports });
    const served = { pages, mode: proxyMode, health: () => proxyMetrics.health, clock, log };
    return async (running) => {
      const tasks = new TaskGroup({ parent: running });
      tasks.run("metrics and health", (signal) => serveProxy(listen, served, signal));
      tasks.run("network", (signal) => runNodeNetwork(options, signal));
      await tasks.done();
    };
  };
  await runComponent({ ...config, name: NAME }, environment, prepare, signal);
}

/** The effective configuration, with the field names of KubeProxyConfiguration. */
function configz({
  nodeName,
  clusterCidrs,
  proxyMode = "nftables",
  resyncMs,
  kubeconfig,
  ...config
}: StandaloneProxyConfig) {
  const { health, metrics } = config.listen ?? {};
  const address = (at: ListenAddress | undefined) => (at === undefined ? "" : joinAddress(at));
  return {
    "kubeproxy.config.k8s.io": {
      clientConnection: { kubeconfig },
      hostnameOverride: nodeName,
      healthzBindAddress: address(health),
      metricsBindAddress: address(metrics),
      mode: proxyMode,
      clusterCIDR: clusterCidrs.join(","),
      nodePortAddresses: config.nodePortAddresses ?? null,
      [proxyMode]: { syncPeriod: formatMs(resyncMs ?? DEFAULT_RESYNC_MS) },
      featureGates: config.features?.gates ?? "",
    },
  };
}

function joinAddress({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Only the DNS server, until the signal aborts. */
export async function runStandaloneDns(
  config: Omit<ComponentConfig, "name" | "election">,
  dns: StandaloneDnsConfig,
  environment: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { runDns } = await import("#network");
  const prepare = (component: Component): Work => {
    const onReady = (port: number) => component.log.info("serving DNS", { addresses: dns.addresses, port });
    return (running) => runDns({ ...component, ...dns, onReady }, running);
  };
  await runComponent({ ...config, name: "kube-dns" }, environment, prepare, signal);
}
