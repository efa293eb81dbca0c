/**
 * One node of a fleet: what a kubelet writes to the API, as `system:node:NAME`.
 *
 *                ┌──────── stop(), or the annotation simulated.k8ts.io/stopped ────────┐
 *                ▼                                                                     │
 *     stopped ──► register ══► Node, Lease ──► live: --► Pods; Lease every 10 s, status every 5 minutes or on change
 *
 * 1. It watches its own Node also while it is stopped: the annotation stops and starts it.
 * 2. A stopped node writes nothing and forgets its Pods; when it starts again, it adopts what the API has.
 * 3. Its work waits in the fleet's queues; it has no timer of its own.
 * 4. A Node that is deleted stays deleted until its node starts again, as with kubelets upstream.
 */
import { type core, isStatusError, kinds } from "#api";
import {
  abortable,
  type ChildController,
  type Clock,
  childController,
  isAbort,
  type Logger,
  type Random,
  type TaskGroup,
  type WorkQueue,
} from "#base";
import { type Client, Informer } from "#client";
import {
  LEASE_RENEW_MS,
  missingLabels,
  NodeLease,
  type NodeReport,
  newNode,
  nodeStatus,
  nodeStatusPatch,
  STATUS_HEARTBEAT_MS,
  UNINITIALIZED,
} from "../node/index.ts";
import { FleetPods, type FleetPodsOptions } from "./fleet-pods.ts";
import { type FleetFacts, labelsOf, reportOf, STOPPED } from "./node-report.ts";
import type { PodEntry } from "./pod-entry.ts";
import type { NodeSettings } from "./settings.ts";
import { type NodeUsageSource, UsageCounters } from "./usage.ts";

/** Changes of the Node within this time are answered with one report. */
const SETTLE_MS = 1_000;
const JITTER = 0.04;
const TICK_MS = 100;

/** What a node has to do from time to time. */
export interface Chore {
  readonly node: FleetNode;
  readonly what: "register" | "lease" | "status";
}

export interface FleetNodeOptions extends Pick<FleetPodsOptions, "defaults" | "newId" | "imageID" | "starts"> {
  readonly settings: NodeSettings;
  readonly facts: FleetFacts;
  readonly client: Client;
  /** Default: what annotations say, else a part of what containers request. */
  readonly usage?: NodeUsageSource | undefined;
  readonly chores: WorkQueue<Chore>;
  readonly pods: WorkQueue<PodEntry>;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** From a start of the node to its stop. */
interface Session {
  readonly signal: AbortSignal;
  readonly ending: ChildController;
  readonly pods: FleetPods;
  isRegistered: boolean;
}

export class FleetNode {
  readonly #options: FleetNodeOptions;
  readonly #node: Informer<core.Node>;
  readonly #lease: NodeLease;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #report: NodeReport;
  readonly #chores: Readonly<Record<Chore["what"], Chore>>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #usage: UsageCounters;
  #session: Session | undefined;
  #isStopped = false;
  /** Undefined before it runs. */
  #signal: AbortSignal | undefined;

  constructor(options: FleetNodeOptions) {
    const { client, clock, random, log, settings, facts } = options;
    this.#options = options;
    this.#labels = labelsOf(settings, facts);
    this.#report = reportOf(settings, facts);
    const selectors = { fieldSelector: `metadata.name=${settings.name}` };
    this.#node = new Informer({ client: client.of(kinds.Node), clock, random, log, selectors });
    this.#lease = new NodeLease(client, clock, settings.name);
    this.#usage = new UsageCounters(options.usage);
    this.#chores = {
      register: { node: this, what: "register" },
      lease: { node: this, what: "lease" },
      status: { node: this, what: "status" },
    };
  }

  get name(): string {
    return this.#options.settings.name;
  }

  /** Resolves when it has been Ready once, or is stopped. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  async run(fleet: AbortSignal): Promise<void> {
    // One listener for each node on the fleet's signal: the node's own signal has the many.
    using own = childController(fleet);
    const { signal } = own;
    this.#signal = signal;
    const watching = this.#node.run(signal);
    try {
      await abortable(this.#node.synced, signal);
      this.#node.onChange(() => this.#look());
      this.#look();
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    }
    await watching;
    this.#endSession();
  }

  /** What a kubelet's /metrics/resource has; undefined while it is stopped. */
  resourceMetrics(): string | undefined {
    if (this.#session?.isRegistered !== true) return undefined;
    return this.#usage.text(this.#session.pods.running, this.#options.clock.now());
  }

  /** Its Pods that run. */
  get running(): readonly core.Pod[] {
    return this.#session?.pods.running.map(({ pod }) => pod) ?? [];
  }

  stop(): void {
    this.#isStopped = true;
    this.#look();
  }

  start(): void {
    this.#isStopped = false;
    this.#look();
  }

  async work(what: Chore["what"]): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    const { chores } = this.#options;
    try {
      if (what === "register") await this.#register(session);
      else if (what === "lease") {
        await this.#lease.renew(this.#known, session.signal);
        chores.addAfter(this.#chores.lease, this.#spread(LEASE_RENEW_MS));
      } else {
        await this.#writeStatus(session);
        chores.addAfter(this.#chores.status, this.#spread(STATUS_HEARTBEAT_MS));
      }
    } catch (error) {
      if (!isAbort(error, session.signal)) throw error;
    }
  }

  get #known(): core.Node | undefined {
    return this.#node.cache.get(this.name);
  }

  /** Starts or stops the node as its Node object asks for, and notices when others have changed its status. */
  #look(): void {
    const { chores } = this.#options;
    if (!this.#node.hasSynced || this.#signal?.aborted !== false) return;
    const isStopped = this.#isStopped || this.#known?.metadata.annotations?.[STOPPED] === "true";
    if (isStopped) {
      this.#endSession();
      this.#ready.resolve();
    } else if (this.#session === undefined) this.#startSession(this.#signal);
    else {
      this.#session.pods.lookAtNode();
      if (this.#session.isRegistered && this.#known !== undefined && this.#statusPatch(this.#session, false))
        chores.addAfter(this.#chores.status, SETTLE_MS);
    }
  }

  #startSession(parent: AbortSignal): void {
    const { chores, clock, pods: queue } = this.#options;
    const ending = childController(parent);
    const { signal } = ending;
    const node = () => this.#known ?? this.#newNode(clock.now());
    const onVolumes = () => chores.add(this.#chores.status);
    const pods = new FleetPods({ ...this.#options, queue, signal, node, onVolumes });
    this.#session = { signal, ending, pods, isRegistered: false };
    chores.add(this.#chores.register);
  }

  #endSession(): void {
    this.#session?.ending.abort(new Error(`node ${this.name} is stopped`));
    this.#session?.ending[Symbol.dispose]();
    this.#session = undefined;
  }

  async #register(session: Session): Promise<void> {
    const { client, clock, chores, tasks, random } = this.#options;
    const { signal } = session;
    const nodes = client.of(kinds.Node);
    let node: core.Node;
    try {
      node = await nodes.create(this.#newNode(clock.now()), { signal });
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "AlreadyExists") throw error;
      node = this.#known ?? (await nodes.get(this.name, { signal }));
      const missing = missingLabels(node, this.#labels);
      if (missing !== undefined) {
        const object = { metadata: { labels: missing } };
        node = await nodes.patch(this.name, { type: "strategic", object }, { signal });
      }
      await this.#writeStatus(session);
    }
    await this.#lease.renew(node, signal);
    if (session.isRegistered) return;
    session.isRegistered = true;
    chores.addAfter(this.#chores.lease, LEASE_RENEW_MS * random.next());
    chores.addAfter(this.#chores.status, STATUS_HEARTBEAT_MS * random.next());
    tasks.run(`pods of ${this.name}`, () => this.#follow(session));
  }

  #newNode(now: number): core.Node {
    const { taints: own = [], externalCloud = false } = this.#options.settings;
    const taints = externalCloud ? [...own, UNINITIALIZED] : own;
    return newNode({ name: this.name, labels: this.#labels, taints, report: this.#report }, now);
  }

  async #follow({ signal, pods }: Session): Promise<void> {
    const { client, clock, random, log } = this.#options;
    const selectors = { fieldSelector: `spec.nodeName=${this.name}` };
    const informer = new Informer({ client: client.of(kinds.Pod), clock, random, log, selectors });
    informer.onChange((change) => pods.take(change));
    const watching = informer.run(signal);
    try {
      await abortable(informer.synced, signal);
      this.#ready.resolve();
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    }
    await watching;
  }

  #statusPatch({ pods }: Session, isHeartbeatDue: boolean) {
    const before = this.#known?.status ?? {};
    const images = pods.images.map((name) => ({ names: [name] }));
    const { volumesInUse } = pods;
    const after = nodeStatus(before, { ...this.#report, images, volumesInUse }, this.#options.clock.now());
    return nodeStatusPatch(before, after, isHeartbeatDue);
  }

  async #writeStatus(session: Session): Promise<void> {
    const object = this.#statusPatch(session, true);
    if (object === undefined) return;
    const { signal } = session;
    const status = this.#options.client.of(kinds.Node).subresource(this.name, "status");
    try {
      await status.patch({ type: "strategic", object }, { signal });
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "NotFound") throw error;
    }
  }

  /** A little later than `ms`, at the next tick: what is due at about the same time is written together. */
  #spread(ms: number): number {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    return Math.ceil((now + ms * (1 + JITTER * random.next())) / TICK_MS) * TICK_MS - now;
  }
}
