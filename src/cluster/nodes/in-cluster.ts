/**
 * Real nodes in a cluster's start, in the order in which cluster.ts calls them.
 *
 *     openRealNodes ──► (the API server listens at machineIp too) ──► run ──► every Node Ready
 */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type core, kinds } from "#api";
import type { Clock, Logger, Random, TaskGroup } from "#base";
import { Client, Informers, type InProcessHandle, inProcess } from "#client";
import type { Authority } from "#pki";
import type { RealNodesConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { type DataDir, writeFileAtomic } from "../data/data-dir.ts";
import { loadRegistries } from "../registries/index.ts";
import { clusterDnsIn, publishGatewayApi, publishIngress, publishNetwork } from "./cluster-network.ts";
import { chooseIngressPorts, isFreePort } from "./entrances/ingress-ports.ts";
import { keepEntrances } from "./entrances/keep-entrances.ts";
import { localAddressOf } from "./entrances/plan.ts";
import { readWanted } from "./entrances/records.ts";
import { idRangeOf } from "./isolation/user-namespace.ts";
import { CommandError } from "./machine/command.ts";
import { checkAddresses, runLoadBalancers } from "./network/load-balancers.ts";
import { powerOffAll } from "./power-off.ts";
import { endIngress, keepIngress } from "./programs/ingress.ts";
import type { KubeletOptions } from "./programs/kubelet.ts";
import { RealNodes } from "./real-nodes.ts";
import { runNodes, untilReady } from "./run-nodes.ts";
import { namespacePath, siteNames } from "./site/names.ts";
import { listNodes, type NodeRecord } from "./site/record.ts";

const NODES = kinds.Node;
/** Where isolated nodes have the programs of credential providers. */
const PROVIDERS_DIR = "/opt/credential-providers";
const INGRESS_GRACE_MS = 3_000;
/** It creates nodes and reads their objects, with admin rights. */
const USER = { name: "k8ts-nodes", groups: ["system:masters", "system:authenticated"] };

export interface OpenOptions {
  readonly dataDir: string;
  readonly config: RealNodesConfig;
  /** Whether nodes reach what this machine reaches. Default: true. */
  readonly outside?: boolean | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface RunOptions {
  readonly dir: DataDir;
  readonly handle: InProcessHandle;
  readonly port: number;
  readonly authority: Authority;
  readonly background: TaskGroup;
  /** Addresses of Services. Default: 10.96.0.0/12. */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** `--feature-gates` of the nodes' programs. */
  readonly featureGates?: string | undefined;
  /** Whether nodes run the CSI driver for volumes on their disks. Default: yes. */
  readonly localStorage?: boolean | undefined;
}

export interface Started {
  readonly ready: number;
  readonly wanted: number;
  /** For the user. */
  readonly notes: readonly string[];
}

export interface OpenedRealNodes {
  /** This machine's address in the nodes' network: the API server has to listen there. */
  readonly machineIp: string;
  /** Pod IP ranges. */
  readonly podRanges: readonly string[];
  /** Nodes of an earlier cluster process were running already. */
  readonly found: boolean;
  /** Why nodes share the files and processes of this machine, as the end of a sentence. Undefined: they do not. */
  readonly isolationObstacle: string | undefined;
  /** Resolves when every node is Ready, or after a minute. */
  run(options: RunOptions): Promise<Started>;
  /** Powers off all nodes. Their disks stay. */
  powerOff(): Promise<void>;
}

export async function openRealNodes(options: OpenOptions): Promise<OpenedRealNodes> {
  const { outside = true } = options;
  const { machine, podRanges, loadBalancerAddresses, mounts: given, opensLoops, hasUserNamespaces } = options.config;
  const { hostPorts, registriesFile, credentialProviders } = options.config;
  if (loadBalancerAddresses !== undefined) await checkAddresses(loadBalancerAddresses);
  if (registriesFile !== undefined && loadRegistries(registriesFile, "") === undefined)
    throw new ClusterError(`--registries ${registriesFile}: there is no such file.`);
  if (registriesFile === undefined) loadRegistries(siteNames(options.dataDir).registriesFile, "");
  const programs = { source: credentialProviders?.binDir ?? "", target: PROVIDERS_DIR, readOnly: true };
  const mounts = credentialProviders === undefined ? given : [...(given ?? []), programs];
  const own = { machine, podRanges, mounts, opensLoops, hasUserNamespaces };
  const settings = { ...options, ...own, outside, hostPorts, registriesFile };
  const nodes = await RealNodes.open(settings).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    throw new ClusterError(
      `The network of real nodes cannot be set up here: ${error.message}. Or choose --runtime simulated.`,
      {
        cause: error,
      },
    );
  });
  const found = (await listNodes(nodes.site)).some(({ run }) => run?.state === "running");
  await nodes.want(options.config.count, options.config.own);
  return {
    machineIp: nodes.network.machineIp,
    podRanges: nodes.network.podRanges,
    found,
    isolationObstacle: nodes.isolationObstacle,
    run: (running) => runRealNodes(nodes, { ...options, ...running }),
    powerOff: () => powerOffAll(nodes.site, options.clock),
  };
}

async function runRealNodes(nodes: RealNodes, options: OpenOptions & RunOptions): Promise<Started> {
  const { config, outside = true, handle, port, authority, background, clock, random, log } = options;
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  const informers = new Informers({ client, clock, random, log, tasks: background });
  const inApi = informers.of<core.Node>(NODES);
  background.run("client of nodes", async (signal) => {
    if (!signal.aborted) await once(signal, "abort");
    await client.close();
  });
  const clusterDns = clusterDnsIn(options.serviceCidrs);
  await publishNetwork(client, clusterDns, log, background.signal);
  const access = {
    serverUrl: `https://${nodes.network.machineIp}:${port}`,
    authority,
    serviceRanges: options.serviceCidrs,
    clusterDns,
    featureGates: options.featureGates,
    localStorage: options.localStorage,
    credentialProviders: await providersOf(config, nodes.isolationObstacle === undefined),
  };
  const running = { nodes, config, outside, access, inApi, background, clock, log };
  const agents = await runNodes(running);
  const notes = await runEntrances(nodes, { ...options, client, informers, agents });
  await inApi.synced;
  const counts = await untilReady(running);
  return { ...counts, notes: [...notes, ...(await otherKindNotes(await listNodes(nodes.site), config))] };
}

interface EntranceOptions extends OpenOptions, RunOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly agents: KubeletOptions;
}

/** Load balancers, the ingress, ports of this machine's loopback. A node that is the machine has the machine's own. */
async function runEntrances(nodes: RealNodes, options: EntranceOptions): Promise<readonly string[]> {
  const { config, client, informers, agents, handle, background, clock, random, log } = options;
  const { site: names } = nodes;
  const { site } = nodes.network;
  const { localhost = true } = config;
  const addresses = config.loadBalancerAddresses ?? (site === undefined ? [] : [site.balancerRange]);
  if (addresses.length > 0) {
    const alsoAt = localhost && site !== undefined ? localAddressOf : undefined;
    const machineLink = site === undefined ? undefined : names.machineLink;
    const balancing = { handle, addresses, alsoAt, machineLink, clock, random, log };
    background.run("load balancers", (signal) => runLoadBalancers(balancing, signal));
  }
  if (config.ingress === false) await endIngress(names, clock, INGRESS_GRACE_MS);
  else {
    await publishIngress(client, log, background.signal);
    const ofMachine = { address: nodes.network.machineIp };
    const place =
      site === undefined ? ofMachine : { address: site.ingressIp, namespace: namespacePath(names.switchNamespace) };
    const serving = { site: names, place, agents, client, informers, clock, random, log };
    background.run("definitions of the Gateway API", async (signal) => {
      await publishGatewayApi(client, clock, log, signal);
      if (!signal.aborted) await once(signal, "abort");
    });
    background.run("ingress", (signal) => keepIngress(serving, signal));
  }
  if (site === undefined) return config.ingress === false ? [] : [await machineIngressNote(nodes.network.machineIp)];
  const hasIngress = localhost && config.ingress !== false;
  const ports = hasIngress ? await ingressPorts(names.ingressPortsFile, options.dir) : undefined;
  const ingress = ports && { address: site.ingressIp, ports };
  const entrances = { dir: options.dir, handle, localhost, ingress, clock, random, log };
  background.run("ports of this machine", (signal) => keepEntrances(entrances, signal));
  return notesOn(ports);
}

async function providersOf({ credentialProviders }: RealNodesConfig, isIsolated: boolean) {
  if (credentialProviders === undefined) return undefined;
  const { configFile, binDir } = credentialProviders;
  return { text: await readFile(configFile, "utf8"), binDir: isIsolated ? PROVIDERS_DIR : binDir };
}

/** Not those that the user publishes. */
async function ingressPorts(file: string, dir: DataDir): Promise<ReadonlyMap<number, number>> {
  const text = await readFile(file, "utf8").catch(() => "[]"); // the first start
  const published = new Set((await readWanted(dir)).map(({ hostPort }) => hostPort));
  const isFree = async (port: number) => !published.has(port) && (await isFreePort(port));
  const chosen = await chooseIngressPorts(new Map(JSON.parse(text) as [number, number][]), isFree);
  await writeFileAtomic(file, `${JSON.stringify([...chosen])}\n`);
  return chosen;
}

/** A node keeps the kind that its disk was made with. */
async function otherKindNotes(
  nodes: readonly NodeRecord[],
  { hasUserNamespaces }: RealNodesConfig,
): Promise<readonly string[]> {
  if (hasUserNamespaces !== true) return [];
  const kinds = await Promise.all(nodes.map(async ({ names }) => ({ names, ids: await idRangeOf(names) })));
  const others = kinds.filter(({ ids }) => ids === undefined).map(({ names }) => names.name);
  if (others.length === 0) return [];
  const which = others.join(", ");
  return [`Nodes that existed before have no user namespaces: ${which}. Remove and add them to give them some.`];
}

/** Nothing listens there before the first Ingress. An earlier process of this cluster may. */
async function machineIngressNote(address: string): Promise<string> {
  const host = address.includes(":") ? `[${address}]` : address;
  const free = await Promise.all([80, 443].map((port) => isFreePort(port, [address])));
  if (free.every(Boolean)) return `Ingresses and Gateways will be at http://${host} and https://${host}.`;
  return `Ingresses and Gateways are at http://${host} and https://${host}, unless another program has port 80 or 443 there.`;
}

function notesOn(ports: ReadonlyMap<number, number> | undefined): readonly string[] {
  if (ports === undefined) return [];
  const taken = [80, 443].filter((port) => ports.get(port) !== port);
  const [http, https] = [ports.get(80), ports.get(443)];
  const urls = [
    ...(http === undefined ? [] : [`http://localhost${http === 80 ? "" : `:${http}`}`]),
    ...(https === undefined ? [] : [`https://localhost${https === 443 ? "" : `:${https}`}`]),
  ];
  if (urls.length === 0) return ["Ingresses are not on localhost: no port is free."];
  const why = taken.length === 0 ? "" : ` (${taken.join(" and ")} ${taken.length === 1 ? "is" : "are"} in use)`;
  return [`Ingresses and Gateways are at ${urls.join(" and ")}${why}; \`k8ts publish\` lists all ports.`];
}
