/**
 * The real nodes of a running cluster: a loop that reconciles each node with its wanted state.
 *
 *     node.json (wanted) ···► bringUp · powerOff ──► run.json
 *     processes that died ···► bringUp
 *     Node.spec.podCIDRs --► CNI configuration, routes between nodes
 *
 * 1. Only it writes run.json, starts and ends processes: commands write the wanted state, and wait.
 * 2. When it ends, nodes and their Pods keep running; the next one adopts them.
 * 3. A node that fails is retried with backoff; it does not delay other nodes.
 */
import { mkdir } from "node:fs/promises";
import { type Clock, isAbort, KeyedBackoff, type Logger, type Random } from "#base";
import type { HostPort, NodeOwn } from "../config/cluster-config.ts";
import { type NodeMount, parseNodeMount } from "./isolation/node-mounts.ts";
import { isolationObstacle } from "./isolation/probe.ts";
import { ensureProgramsDir, installPrograms } from "./isolation/programs.ts";
import { Registries } from "./isolation/registries.ts";
import { inspectMachine, type Machine } from "./machine/machine.ts";
import { type MachineAddress, openMachineNetwork } from "./machine-network.ts";
import { bringUp, isUp, placeOf, writePodNetwork } from "./node.ts";
import type { NodeNetwork } from "./node-network.ts";
import { powerOff, removeNodeDir, stopped } from "./power-off.ts";
import { DEFAULT_SERVICE_RANGE, type KubeletOptions } from "./programs/kubelet.ts";
import { proxyEnv } from "./runtime/pull-proxy.ts";
import { type NodeNames, type SiteNames, siteNames } from "./site/names.ts";
import {
  freeIndex,
  listNodes,
  type NodeRecord,
  type NodeRun,
  readNode,
  refuseOtherKind,
  wantNodes,
  writeRun,
} from "./site/record.ts";
import { openSwitch } from "./switched-network.ts";

const TICK_MS = 100;
/** For nodes that keep failing, or fail as soon as they are up. A node that had stayed up is repaired at once. */
const RETRY = { initialMs: 500, maxMs: 30_000 };
const STAYED_UP_MS = 1000;

type Kind = "take up" | "bring up" | "Pods' range" | "registries" | "stop" | "remove";

interface Work {
  readonly kind: Kind;
  readonly run: () => Promise<void>;
}

export interface RealNodesOptions {
  readonly dataDir: string;
  /** The only node has this machine's network. Default: nodes have networks of their own. */
  readonly machine?: MachineAddress | undefined;
  /** Pod IP ranges. Default: a range that is unused on this machine. */
  readonly podRanges?: readonly string[] | undefined;
  /** Folders of this machine that all nodes get when they start. */
  readonly mounts?: readonly NodeMount[] | undefined;
  /** Whether Pods of nodes that start now may open loop devices. Default: false. */
  readonly opensLoops?: boolean | undefined;
  /** Whether nodes and Pods reach what this machine reaches. */
  readonly outside: boolean;
  /** Ports of this machine that Pods reach. */
  readonly hostPorts?: readonly HostPort[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class RealNodes {
  readonly site: SiteNames;
  readonly network: NodeNetwork;
  /** Why nodes share the files and processes of this machine, as the end of a sentence. Undefined: they do not. */
  readonly isolationObstacle: string | undefined;
  readonly #machine: Machine;
  readonly #mounts: readonly NodeMount[];
  readonly #opensLoops: boolean;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #retries: KeyedBackoff<string>;
  readonly #notBefore = new Map<string, number>();
  readonly #upSince = new Map<string, number>();
  readonly #registries: Registries;
  readonly #podCidrs = new Map<string, readonly string[]>();

  private constructor(
    site: SiteNames,
    network: NodeNetwork,
    machine: Machine,
    obstacle: string | undefined,
    options: RealNodesOptions,
  ) {
    this.site = site;
    this.network = network;
    this.isolationObstacle = obstacle;
    this.#machine = machine;
    this.#mounts = options.mounts ?? [];
    this.#opensLoops = options.opensLoops === true;
    this.#registries = new Registries(site.registryDir);
    this.#clock = options.clock;
    this.#log = options.log;
    this.#retries = new KeyedBackoff(RETRY, options.random);
  }

  /** Creates the network between nodes and this machine, so that the API server can listen there. */
  static async open(options: RealNodesOptions): Promise<RealNodes> {
    const site = siteNames(options.dataDir);
    await mkdir(site.nodesDir, { recursive: true, mode: 0o700 });
    const { machine: own } = options;
    const [machine, obstacle] = await Promise.all([inspectMachine(site.nodesDir), isolationObstacle()]);
    await refuseOtherKind(site, own === undefined ? "switch" : "machine");
    const network =
      own === undefined ? await openSwitch(site, options) : await openMachineNetwork(site, { ...options, ...own });
    return new RealNodes(site, network, machine, obstacle, options);
  }

  /** Wants at least this many nodes: those with names, then node-1 and so on. Existing ones keep their wanted state. */
  async want(count: number, own: readonly NodeOwn[] = []): Promise<void> {
    await wantNodes(this.site, count, own, this.network.kind);
  }

  /** Called when a Node has its Pod CIDRs. */
  learnPodCidrs(node: string, podCidrs: readonly string[]): void {
    this.#podCidrs.set(node, podCidrs);
  }

  /** Runs until the signal aborts. Nodes keep running. */
  async run(options: KubeletOptions, signal: AbortSignal): Promise<void> {
    let kubelet: KubeletOptions | undefined;
    while (!signal.aborted) {
      try {
        kubelet ??= await this.#withPrograms(options);
        await this.#tick(kubelet, signal);
        await this.#clock.sleep(TICK_MS, signal);
      } catch (error) {
        if (!isAbort(error, signal)) this.#log.error("nodes could not be reconciled; trying again", { error });
      }
    }
    await Promise.all(this.#busy.values());
  }

  /** The commands as nodes run them. */
  async #withPrograms(kubelet: KubeletOptions): Promise<KubeletOptions> {
    if (!this.#isIsolated) return kubelet;
    const { command, proxyCommand = command } = kubelet;
    await ensureProgramsDir(this.site);
    const [one, two] = [await installPrograms(this.site, command), await installPrograms(this.site, proxyCommand)];
    return { ...kubelet, command: one, proxyCommand: two };
  }

  get #isIsolated(): boolean {
    return this.isolationObstacle === undefined;
  }

  async #tick(kubelet: KubeletOptions, signal: AbortSignal): Promise<void> {
    await this.network.keep(kubelet);
    const records = await listNodes(this.site);
    for (const { names } of records) {
      if (this.#busy.has(names.name)) continue;
      // Read again: work that just finished may have changed it.
      const record = await readNode(names);
      const work = record && (await this.#workFor(record, kubelet, signal));
      if (work === undefined || this.#isTooEarly(names, work.kind)) continue;
      const busy = this.#attempt(names, work, signal).finally(() => this.#busy.delete(names.name));
      this.#busy.set(names.name, busy);
      // Its index must be recorded before the next one is assigned.
      if (work.kind === "take up") await busy;
    }
    await this.network.route(records).catch((error: unknown) => {
      this.#log.warn("routes between nodes could not be set; trying again", { error });
    });
  }

  /** The next work on a node, if any. */
  async #workFor(
    { names, spec, run }: NodeRecord,
    forAll: KubeletOptions,
    signal: AbortSignal,
  ): Promise<Work | undefined> {
    const kubelet = { ...forAll, own: spec };
    if (spec.wanted === "removed") return { kind: "remove", run: () => this.#remove({ names, spec, run }) };
    if (run === undefined) return { kind: "take up", run: () => this.#takeUp(names) };
    if (spec.wanted === "stopped") {
      return run.state === "stopped" ? undefined : { kind: "stop", run: () => this.#stop({ names, spec, run }, run) };
    }
    const podCidrs = this.#podCidrs.get(names.name) ?? run.podCidrs;
    if (podCidrs.join() !== run.podCidrs.join()) {
      return { kind: "Pods' range", run: () => this.#setPodCidrs(names, { ...run, podCidrs }) };
    }
    if (!(await isUp(run, names, { kubelet, isIsolated: this.#isIsolated, clock: this.#clock }))) {
      return { kind: "bring up", run: () => this.#bringUp({ names, spec, run }, kubelet, signal) };
    }
    const registries = run.init && (await this.#registries.changedFor(names, run.init));
    if (registries !== undefined) {
      return { kind: "registries", run: async () => registries.copy(await placeOf(names, run)) };
    }
    if (this.#clock.monotonic() >= (this.#upSince.get(names.name) ?? 0) + STAYED_UP_MS) {
      this.#retries.forget(keyOf(names, "bring up"));
      this.#notBefore.delete(keyOf(names, "bring up"));
    }
    return undefined;
  }

  async #bringUp(
    { names, spec, run }: NodeRecord & { readonly run: NodeRun },
    kubelet: KubeletOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const [site, network, machine, clock, log] = [this.site, this.network, this.#machine, this.#clock, this.#log];
    const start = clock.monotonic();
    const { serviceRanges = [DEFAULT_SERVICE_RANGE] } = kubelet;
    const { host, pullProxy } = network.relays;
    const env = proxyEnv(host, pullProxy, network.pullSecret, [...serviceRanges, ...network.podRanges]);
    const mounts = [...this.#mounts, ...ownMounts(spec.mounts)];
    const { ip } = await bringUp(names, run, {
      ...{ site, network, machine, kubelet, spec, clock, log, signal, env, mounts },
      isIsolated: this.#isIsolated,
      opensLoops: this.#opensLoops,
    });
    log.info("node is up", { node: names.name, ip, ms: Math.round(clock.monotonic() - start) });
    this.#upSince.set(names.name, clock.monotonic());
    this.#wait(keyOf(names, "bring up"));
  }

  async #setPodCidrs(names: NodeNames, run: NodeRun): Promise<void> {
    await writePodNetwork(await placeOf(names, run), run.podCidrs, this.network.mtu);
    await writeRun(names, run);
  }

  async #stop({ names, spec }: NodeRecord, run: NodeRun): Promise<void> {
    await powerOff(this.site, { names, spec, run }, this.#clock);
    await writeRun(names, stopped(run));
  }

  async #remove({ names, spec, run }: NodeRecord): Promise<void> {
    await powerOff(this.site, { names, spec, run }, this.#clock);
    await removeNodeDir(names);
    this.#podCidrs.delete(names.name);
  }

  /** Assigns an address to a new node. */
  async #takeUp(names: NodeNames): Promise<void> {
    const index = freeIndex(await listNodes(this.site));
    const { maxNodes } = this.network;
    if (index > maxNodes) throw new Error(`there are addresses for only ${maxNodes} nodes`);
    await writeRun(names, { index, ...this.network.addressesOf(index), podCidrs: [], state: "stopped" });
  }

  async #attempt(names: NodeNames, { kind, run }: Work, signal: AbortSignal): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (isAbort(error, signal)) return;
      const retryMs = this.#wait(keyOf(names, kind));
      this.#log.error("node failed; trying again", { node: names.name, doing: kind, retryMs, error });
    }
  }

  #wait(key: string): number {
    const waitMs = this.#retries.next(key);
    this.#notBefore.set(key, this.#clock.monotonic() + waitMs);
    return waitMs;
  }

  #isTooEarly(names: NodeNames, kind: Kind): boolean {
    return this.#clock.monotonic() < (this.#notBefore.get(keyOf(names, kind)) ?? 0);
  }
}

/** They were valid when they were written. */
function ownMounts(mounts: readonly string[] = []): NodeMount[] {
  return mounts.map(parseNodeMount).filter((mount) => typeof mount !== "string");
}

function keyOf({ name }: NodeNames, kind: Kind): string {
  return `${name} ${kind}`;
}
