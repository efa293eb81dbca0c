/**
 * A standalone network agent, like kube-proxy: Services, NetworkPolicies and optionally the cluster DNS of one node. It
 * runs in the node's network namespace.
 */
import type { OverlayMode, ProxyMode, UpstreamAddress } from "#network";
import type { Environment } from "../config/cluster-config.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";

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
  /** Absent: no DNS. */
  readonly dns?: StandaloneDnsConfig;
}

export interface StandaloneDnsConfig {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly zone: string;
  readonly upstreams: readonly UpstreamAddress[];
  readonly stubDomains: Readonly<Record<string, readonly UpstreamAddress[]>>;
}

/** Runs until the signal aborts. */
export async function runStandaloneProxy(
  config: StandaloneProxyConfig,
  environment: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { runNodeNetwork } = await import("#network");
  const prepare = ({ client, clock, random, log, metrics }: Component): Work => {
    const options = { ...config, client, clock, random, log, metrics };
    return (running) => runNodeNetwork(options, running);
  };
  await runComponent({ ...config, name: "kube-proxy" }, environment, prepare, signal);
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
