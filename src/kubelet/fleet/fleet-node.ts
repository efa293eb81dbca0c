/**
 * One simulated node: what a kubelet does through the API, as `system:node:NAME`.
 *
 *              ┌────────────── told to, or its Node says so ─────────────┐
 *              ▼                                                         │
 *     silent ──► register: Node, Lease ──► live: Pods --►, Lease every 10 s, status every 5 minutes or on change
 *
 * 1. It watches its own Node also while it is silent: the annotation `simulated.k8ts.io/stopped` tells it to be, and when to come back.
 * 2. A silent node writes nothing and forgets its Pods; when it comes back, it adopts what the API has.
 * 3. What it has to do waits in the fleet's queues; it has no timer of its own.
 */
import { type core, isStatusError } from "#api";
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
import { Node, Pod } from "../kinds.ts";
import { NodeLease, RENEW_MS } from "../node/lease.ts";
import { isOutdated, labelsOf, type NodeFacts, newNode, STOPPED, statusReport } from "./node-object.ts";
import { NodePods, type NodePodsOptions, type PodEntry } from "./node-pods.ts";
import type { NodeSettings } from "./settings.ts";

const STATUS_MS = 300_000;
/** Changes of the Node that come together are answered together. */
const SETTLE_MS = 1_000;
const JITTER = 0.04;
const TICK_MS = 100;

/** What a node has to do from time to time. */
export interface Chore {
  readonly node: FleetNode;
  readonly what: "register" | "lease" | "status";
}

export interface FleetNodeOptions extends Pick<NodePodsOptions, "defaults" | "newId" | "imageID" | "beginnings"> {
  readonly settings: NodeSettings;
  readonly facts: NodeFacts;
  readonly client: Client;
  readonly chores: WorkQueue<Chore>;
  readonly pods: WorkQueue<PodEntry>;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Session {
  readonly signal: AbortSignal;
  readonly ending: ChildController;
  readonly pods: NodePods;
  isRegistered: boolean;
}

export class FleetNode {
  readonly #options: FleetNodeOptions;
  readonly #node: Informer<core.Node>;
  readonly #lease: NodeLease;
  readonly #chores: Readonly<Record<Chore["what"], Chore>>;
  readonly #ready = Promise.withResolvers<void>();
  #session: Session | undefined;
  #isToldToStop = false;
  /** Undefined before it runs. */
  #signal: AbortSignal | undefined;

  constructor(options: FleetNodeOptions) {
    const { client, clock, random, log, settings } = options;
    this.#options = options;
    const selectors = { fieldSelector: `metadata.name=${settings.name}` };
    this.#node = new Informer({ client: client.of(Node), clock, random, log, selectors });
    this.#lease = new NodeLease(client, clock, settings.name);
    this.#chores = {
      register: { node: this, what: "register" },
      lease: { node: this, what: "lease" },
      status: { node: this, what: "status" },
    };
  }

  get name(): string {
    return this.#options.settings.name;
  }

  /** It has been Ready once, or is to be silent. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  async run(fleet: AbortSignal): Promise<void> {
    // One listener for each node on what ends them all: its own signal has the many.
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
    this.#fallSilent();
  }

  stop(): void {
    this.#isToldToStop = true;
    this.#look();
  }

  start(): void {
    this.#isToldToStop = false;
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
        chores.addAfter(this.#chores.lease, this.#spread(RENEW_MS));
      } else {
        await this.#report(session);
        chores.addAfter(this.#chores.status, this.#spread(STATUS_MS));
      }
    } catch (error) {
      if (!isAbort(error, session.signal)) throw error;
    }
  }

  get #known(): core.Node | undefined {
    return this.#node.cache.get(this.name);
  }

  /** Whether it should be live, and whether its Node still says what it has reported. */
  #look(): void {
    const { chores, settings } = this.#options;
    if (!this.#node.hasSynced || this.#signal?.aborted !== false) return;
    const isStopped = this.#isToldToStop || this.#known?.metadata.annotations?.[STOPPED] === "true";
    if (isStopped) {
      this.#fallSilent();
      this.#ready.resolve();
    } else if (this.#session === undefined) this.#wake(this.#signal);
    else if (this.#session.isRegistered && this.#known !== undefined && isOutdated(settings, this.#known))
      chores.addAfter(this.#chores.status, SETTLE_MS);
  }

  #wake(parent: AbortSignal): void {
    const { chores, settings, facts, clock, pods: queue } = this.#options;
    const ending = childController(parent);
    const { signal } = ending;
    const node = () => this.#known ?? newNode(settings, facts, clock.now());
    const pods = new NodePods({ ...this.#options, queue, signal, node });
    this.#session = { signal, ending, pods, isRegistered: false };
    chores.add(this.#chores.register);
  }

  #fallSilent(): void {
    this.#session?.ending.abort(new Error(`node ${this.name} has fallen silent`));
    this.#session?.ending[Symbol.dispose]();
    this.#session = undefined;
  }

  async #register(session: Session): Promise<void> {
    const { client, clock, settings, facts, chores, tasks, random } = this.#options;
    const { signal } = session;
    let node: core.Node;
    try {
      node = await client.of(Node).create(newNode(settings, facts, clock.now()), { signal });
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "AlreadyExists") throw error;
      const labels = { metadata: { labels: labelsOf(settings, facts) } };
      node = await client.of(Node).patch(this.name, { type: "merge", object: labels }, { signal });
      await this.#report(session);
    }
    await this.#lease.renew(node, signal);
    if (session.isRegistered) return;
    session.isRegistered = true;
    chores.addAfter(this.#chores.lease, RENEW_MS * random.next());
    chores.addAfter(this.#chores.status, STATUS_MS * random.next());
    tasks.run(`pods of ${this.name}`, () => this.#follow(session));
  }

  async #follow({ signal, pods }: Session): Promise<void> {
    const { client, clock, random, log } = this.#options;
    const selectors = { fieldSelector: `spec.nodeName=${this.name}` };
    const informer = new Informer({ client: client.of(Pod), clock, random, log, selectors });
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

  async #report({ signal, pods }: Session): Promise<void> {
    const { client, clock, settings, facts } = this.#options;
    const known = this.#known;
    const object = statusReport(settings, facts, known, pods.images, clock.now());
    try {
      await client.of(Node).subresource(this.name, "status").patch({ type: "strategic", object }, { signal });
    } catch (error) {
      // A Node that was deleted stays so until its kubelet starts anew.
      if (!isStatusError(error) || error.reason !== "NotFound") throw error;
    }
  }

  /** A little later than asked for, at the next tick: what falls together is written together. */
  #spread(ms: number): number {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    return Math.ceil((now + ms * (1 + JITTER * random.next())) / TICK_MS) * TICK_MS - now;
  }
}
