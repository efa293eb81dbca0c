/**
 * Nodes with networks of their own, joined by a switch. Pods reach the doors of this machine, and what it reaches if
 * the cluster has a way out.
 */
import type { Clock, Logger, Random } from "#base";
import type { HostPort } from "../config/cluster-config.ts";
import { ensureNodeLink, ensureSwitch, NODE_LINK, SWITCH } from "./network/links.ts";
import { applyMachineGuard, type MachinePorts, machineGuard } from "./network/machine-guard.ts";
import { applyRoutes, type NodeRange, routesFor } from "./network/routes.ts";
import type { NodeNetwork } from "./node-network.ts";
import { DNS_RELAY_PORT } from "./outside/dns-relay.ts";
import { uplinkMtu } from "./outside/uplinks.ts";
import { ensureWayOut, hasWayOut, removeWayOut } from "./outside/way-out.ts";
import { DEFAULT_SERVICE_RANGE, type KubeletOptions } from "./programs/kubelet.ts";
import { PROXY_PORT } from "./runtime/pull-proxy.ts";
import type { NamedRegistry } from "./site/mirrors.ts";
import type { NodeNames, SiteNames } from "./site/names.ts";
import type { NodeRecord, NodeRun } from "./site/record.ts";
import { ensureSiteNetwork, MAX_NODES, nodeIp, nodeIp6, type SiteNetwork } from "./site/site-network.ts";

/** How often the way out is looked after: others may flush all rules of this machine. */
const WAY_OUT_MS = 10_000;

export interface SwitchOptions {
  readonly podRanges?: readonly string[] | undefined;
  /** Whether nodes and Pods reach what this machine reaches. */
  readonly outside: boolean;
  /** Ports of this machine that Pods reach. */
  readonly hostPorts?: readonly HostPort[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Creates the network between nodes and this machine, so that the API server can listen there. */
export async function openSwitch(names: SiteNames, options: SwitchOptions): Promise<NodeNetwork> {
  const { random, podRanges, outside, clock } = options;
  const [site, mtu] = await Promise.all([ensureSiteNetwork(names, random, podRanges), uplinkMtu()]);
  await ensureSwitch(names, site, mtu);
  // An earlier start may have had one, and nodes that still run.
  if (!outside) await removeWayOut(names, clock);
  return new SwitchedNetwork(names, site, site.pullSecret, mtu, options);
}

class SwitchedNetwork implements NodeNetwork {
  readonly kind = "switch";
  readonly agent = {};
  readonly maxNodes = MAX_NODES;
  readonly site: SiteNetwork;
  readonly pullSecret: string;
  readonly mtu: number;
  readonly #names: SiteNames;
  readonly #outside: boolean;
  readonly #hostPorts: readonly HostPort[];
  readonly #clock: Clock;
  readonly #log: Logger;
  #routes = "";
  #guard = "";
  #wayOutCheckMs = 0;

  constructor(names: SiteNames, site: SiteNetwork, pullSecret: string, mtu: number, options: SwitchOptions) {
    this.site = site;
    this.pullSecret = pullSecret;
    this.mtu = mtu;
    this.#names = names;
    this.#outside = options.outside;
    this.#hostPorts = options.hostPorts ?? [];
    this.#clock = options.clock;
    this.#log = options.log;
  }

  get machineIp(): string {
    return this.site.machineIp;
  }

  get machineIp6(): string | undefined {
    return this.site.machineIp6;
  }

  get podRanges(): readonly string[] {
    return this.site.podRanges;
  }

  get relays() {
    return { host: this.site.machineIp, pullProxy: PROXY_PORT, dns: DNS_RELAY_PORT };
  }

  addressesOf(index: number) {
    const ip6 = nodeIp6(this.site, index);
    return { ip: nodeIp(this.site, index), ...(ip6 !== undefined && { ip6 }) };
  }

  ensureLink(names: NodeNames, run: NodeRun, makeNamespace?: () => Promise<void>): Promise<void> {
    const uplink = { isOpen: this.#outside, mtu: this.mtu };
    return ensureNodeLink(this.#names, names, run, this.site, uplink, makeNamespace);
  }

  /** The guard is made anew when the user names another registry. */
  async keep(kubelet: KubeletOptions, registries: readonly NamedRegistry[]): Promise<void> {
    const isOpen = this.#outside;
    const apiServer = Number(new URL(kubelet.serverUrl).port || 443);
    const dnsRelay = isOpen ? DNS_RELAY_PORT : undefined;
    const ports = { apiServer, pullProxy: PROXY_PORT, dnsRelay, hostPorts: this.#hostPorts, registries };
    const script = machineGuard(this.site, ports, isOpen);
    const isNew = script !== this.#guard;
    // First the rules of the machine: they decide about what the switch lets pass.
    if (isOpen) await this.#keepWayOut(ports, kubelet, isNew);
    if (!isNew) return;
    await applyMachineGuard(this.#names, script);
    this.#guard = script;
  }

  async #keepWayOut(ports: MachinePorts, kubelet: KubeletOptions, isNew: boolean): Promise<void> {
    const now = this.#clock.monotonic();
    if (!isNew && now < this.#wayOutCheckMs) return;
    this.#wayOutCheckMs = now + WAY_OUT_MS;
    if (!isNew && (await hasWayOut(this.#names))) return;
    const { serviceRanges = [DEFAULT_SERVICE_RANGE] } = kubelet;
    const problems = await ensureWayOut(this.#names, this.site, { ports, serviceRanges }, this.#clock);
    for (const problem of problems) this.#log.warn(problem);
  }

  async route(records: readonly NodeRecord[]): Promise<void> {
    const running = records.filter(({ run }) => run?.state === "running");
    const ranges = running.map(({ names, run }) => rangeOf(names, run));
    const now = JSON.stringify(ranges);
    if (now === this.#routes) return;
    for (const { names } of running) {
      await applyRoutes(routesFor(ranges, names.name), NODE_LINK, names.namespace);
    }
    await applyRoutes(routesFor(ranges), SWITCH, this.#names.switchNamespace);
    const taken = await applyRoutes(routesFor(ranges), this.#names.machineLink);
    if (taken.length > 0) {
      this.#log.warn("the machine has other routes to these ranges: the API server cannot reach Pods there", {
        ranges: taken,
      });
    }
    this.#routes = now;
  }
}

function rangeOf({ name }: NodeNames, run: NodeRun | undefined): NodeRange {
  return { name, ip: run?.ip ?? "", ip6: run?.ip6, podCidrs: run?.podCidrs ?? [] };
}
