/** The phase of a start with `--listen`: other machines can join. Loaded only then. */
import { KUBERNETES_VERSION } from "#apiserver";
import type { TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { DEFAULT_SERVICE_RANGE } from "./config/service-addresses.ts";
import { contextName } from "./data/cluster-names.ts";
import { approveNodeCertificates, openForMachines } from "./machines/open-for-machines.ts";
import { nodeTools } from "./node-tools.ts";
import type { Running, Start } from "./start.ts";

const DEFAULT_POD_RANGE = "10.244.0.0/16";
const USER = { name: "k8ts-nodes", groups: ["system:masters", "system:authenticated"] };
const DNS_DOMAIN = "cluster.local";

/** Returns the command for another machine. */
export async function letJoin(
  { config, features, clock, random, log }: Start,
  { pki, api, background, realNodes }: Omit<Running, "tracing"> & { readonly background: TaskGroup },
): Promise<string> {
  const { handle, advertised } = api;
  const { listen, serviceCidrs = [DEFAULT_SERVICE_RANGE], realNodes: nodes } = config;
  const { clusterDnsIn, publishNetwork, runLoadBalancers } = await nodeTools();
  const clusterDns = clusterDnsIn(serviceCidrs);
  // A machine that is a node has done so for its own network agent.
  if (realNodes === undefined) {
    const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
    await publishNetwork(client, clusterDns, log, background.signal).finally(() => client.close());
  }
  if (nodes?.loadBalancerAddresses === undefined) {
    const own = { addresses: "nodes" as const, machineLink: undefined, elects: config.store.kind === "etcd" };
    background.run("load balancers", (signal) => runLoadBalancers({ ...own, handle, clock, random, log }, signal));
  }
  const { major, minor, patch } = KUBERNETES_VERSION;
  background.run("certificates of nodes", (signal) => approveNodeCertificates({ handle, clock, random, log }, signal));
  const cluster = {
    clusterName: contextName(config.name),
    endpoint: new URL(advertised).host,
    kubernetesVersion: `v${major}.${minor}.${patch}`,
    podRanges: realNodes?.podRanges ?? listen?.podRanges ?? [DEFAULT_POD_RANGE],
    serviceRanges: serviceCidrs,
    dnsDomain: DNS_DOMAIN,
    clusterDns,
    virtualAddress: listen?.virtualAddress,
    proxyMode: nodes?.proxyMode ?? listen?.proxyMode ?? "nftables",
    featureGates: gatesIn(config.features?.gates, features.enabled),
  };
  return openForMachines({ handle, cluster, caPem: pki.ca.certPem, clock, random });
}

/** Those that the user has set, by their effect. */
function gatesIn(text: string | undefined, enabled: (gate: string) => boolean): Readonly<Record<string, boolean>> {
  const names = (text ?? "").split(",").flatMap((pair) => pair.split("=")[0]?.trim() || []);
  return Object.fromEntries(names.filter((name) => !name.startsWith("All")).map((name) => [name, enabled(name)]));
}
