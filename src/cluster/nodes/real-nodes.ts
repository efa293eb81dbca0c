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
import { type NodeMount, validMounts } from "./isolation/node-mounts.ts";
import { isolationObstacle, requireUserNamespaces } from "./isolation/probe.ts";
import { withPrograms } from "./isolation/programs.ts";
import { inspectMachine, type Machine } from "./machine/machine.ts";
import { type MachineAddress, openMachineNetwork } from "./machine-network.ts";
import { bringUp, isUp, placeOf, writePodNetwork } from "./node.ts";
import type { NodeNetwork } from "./node-network.ts";
import { powerOff, removeNodeDir, stopped } from "./power-off.ts";
import { DEFAULT_SERVICE_RANGE, type KubeletOptions } from "./programs/kubelet.ts";
import { ImageArchives } from "./runtime/image-archives.ts";
import { proxyEnv } from "./runtime/pull-proxy.ts";
import { Registries } from "./runtime/registries.ts";
import { rewriteUrl } from "./runtime/rewritten.ts";
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

type Kind = "take up" | "bring up" | "Pods' range" | "registries" | "images" | "stop" | "remove";

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
  /** Whether nodes that are made now have user namespaces of their own. Default: false. */
  readonly hasUserNamespaces?: boolean | undefined;
  /** Whether nodes and Pods reach what this machine reaches. */
  readonly outside: boolean;
  /** Default: registries.yaml in the data directory. */
  readonly registriesFile?: string | undefined;
  /** Ports of this machine that Pods reach. */
  readonly hostPorts?: readonly HostPort[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class RealNodes {
  readonly site: SiteNames;
  readonly network: NodeNetwork;
  readonly registries: Registries;
  readonly #archives: ImageArchives;
  /** Why nodes share the files and processes of this machine, as the end of a sentence. Undefined: they do not. */
  readonly isolationObstacle: string | undefined;
  readonly #machine: Machine;
  readonly #mounts: readonly NodeMount[];
  readonly #isolation: { readonly opensLoops: boolean; readonly hasUserNamespaces: boolean };
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #retries: KeyedBackoff<string>;
  readonly #notBefore = new Map<string, number>();
  readonly #upSince = new Map<string, number>();
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
    const { opensLoops = false, hasUserNamespaces = false } = options;
    this.#isolation = { opensLoops, hasUserNamespaces };
    const { clock, log, registriesFile: file = site.registriesFile } = options;
    const { relays, pullSecret } = network;
    const proxy = rewriteUrl(relays.host, relays.pullProxy, pullSecret);
    this.registries = new Registries({ site, file, rewriteUrl: proxy, clock, log });
    this.#archives = new ImageArchives({ site, clock, log });
    this.#clock = clock;
    this.#log = log;
    this.#retries = new KeyedBackoff(RETRY, options.random);
  }

  /** Creates the network between nodes and this machine, so that the API server can listen there. */
  static async open(options: RealNodesOptions): Promise<RealNodes> {
    const site = siteNames(options.dataDir);
    await mkdir(site.nodesDir, { recursive: true, mode: 0o700 });
    const { machine: own, hasUserNamespaces = false } = options;
    const [machine, obstacle] = await Promise.all([inspectMachine(site.nodesDir), isolationObstacle()]);
    await refuseOtherKind(site, own === undefined ? "switch" : "machine");
    const shares = own === undefined ? undefined : "a node that is the machine shares its network";
    if (hasUserNamespaces) await requireUserNamespaces(shares ?? obstacle);
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
        kubelet ??= this.#isIsolated ? await withPrograms(this.site, options) : options;
        await this.#tick(kubelet, signal);
        await this.#clock.sleep(TICK_MS, signal);
      } catch (error) {
        if (!isAbort(error, signal)) this.#log.error("nodes could not be reconciled; trying again", { error });
      }
    }
    await Promise.all(this.#busy.values());
  }

  get #isIsolated(): boolean {
    return this.isolationObstacle === undefined;
  }

  async #tick(kubelet: KubeletOptions, signal: AbortSignal): Promise<void> {
    await this.registries.refresh();
    await this.network.keep(kubelet, await this.registries.named());
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
    const registries = await this.registries.changedFor(names, run.init);
    if (registries !== undefined) {
      return { kind: "registries", run: async () => registries.copy(await placeOf(names, run)) };
    }
    if (await this.#archives.changedFor(names))
      return { kind: "images", run: () => this.#archives.giveTo(names, signal) };
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
    const mounts = [...this.#mounts, ...validMounts(spec.mounts)];
    const { ip } = await bringUp(names, run, {
      ...{ site, network, machine, kubelet, spec, clock, log, signal, env, mounts },
      ...{ registries: this.registries, archives: this.#archives },
      isIsolated: this.#isIsolated,
      ...this.#isolation,
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
    this.#archives.forget(names);
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

function keyOf({ name }: NodeNames, kind: Kind): string {
  return `${name} ${kind}`;
}
