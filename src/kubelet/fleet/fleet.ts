/**
 * Many simulated nodes in one process.
 *
 * 1. Two queues hold the work of all nodes, one for Pods and one for nodes, so that neither delays the other. Each has
 *    one timer and a fixed number of workers. An idle fleet only renews Leases.
 * 2. Each node has its own client with its own user.
 */
import { createHash } from "node:crypto";
import type { core } from "#api";
import { abortable, type Clock, type Logger, processQueue, type Random, TaskGroup, WorkQueue } from "#base";
import type { Client } from "#client";
import { type Chore, FleetNode } from "./fleet-node.ts";
import type { FleetFacts } from "./node-report.ts";
import type { PodEntry } from "./pod-entry.ts";
import { RecentStarts } from "./recent-starts.ts";
import { DEFAULTS, type Defaults } from "./script.ts";
import type { NodeSettings } from "./settings.ts";
import type { NodeUsageSource, UsageSource } from "./usage.ts";

const POD_WORKERS = 64;
const CHORE_WORKERS = 32;
/** A retry comes before a Lease expires. */
const BACKOFF = { initialMs: 200, maxMs: 7_000, jitter: 0.5 };

export interface FleetOptions {
  readonly nodes: readonly NodeSettings[];
  /** A client as `system:node:NAME` of the group `system:nodes`. The fleet closes it. */
  readonly clientOf: (nodeName: string) => Client;
  readonly facts: FleetFacts;
  readonly defaults?: Partial<Defaults> | undefined;
  /** What containers use. Default: what annotations say, else a part of what they request. */
  readonly usage?: UsageSource | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #pods: WorkQueue<PodEntry>;
  readonly #chores: WorkQueue<Chore>;
  readonly #nodes = new Map<string, FleetNode>();
  readonly #ready = Promise.withResolvers<void>();
  /** While it runs. */
  #begin: ((settings: NodeSettings) => void) | undefined;
  readonly #ends = new Map<string, AbortController>();

  constructor(options: FleetOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#pods = new WorkQueue({ clock, random, backoff: BACKOFF });
    this.#chores = new WorkQueue({ clock, random, backoff: BACKOFF });
    // Awaiting readiness is optional: a rejection without a listener must not end the process.
    this.#ready.promise.catch(() => {});
  }

  /** Resolves when every node has been Ready once or is stopped. Rejects if the fleet ends before that. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const tasks = new TaskGroup({ parent: signal });
    const clients: Client[] = [];
    try {
      this.#work(tasks);
      const shared = this.#shared(tasks);
      const begin = (settings: NodeSettings) => {
        const client = this.#options.clientOf(settings.name);
        clients.push(client);
        const node = new FleetNode({ ...shared, settings, client });
        const end = new AbortController();
        this.#nodes.set(settings.name, node);
        this.#ends.set(settings.name, end);
        tasks.run(node.name, (running) => untilEnded(node, AbortSignal.any([running, end.signal]), end.signal));
      };
      for (const settings of this.#options.nodes) begin(settings);
      this.#begin = begin;
      tasks.run("readiness", async (running) => {
        await abortable(Promise.all([...this.#nodes.values()].map(({ ready }) => ready)), running);
        this.#ready.resolve();
      });
      await tasks.done();
    } finally {
      this.#begin = undefined;
      this.#ready.reject(new Error("the simulated nodes ended before all of them were ready"));
      this.#pods.close();
      this.#chores.close();
      for (const client of clients) await client.close();
    }
  }

  /**
   * Simulates a failure of the node: no Lease, no status; its Pods stay as they are. False if there is no such node.
   */
  stopNode(name: string): boolean {
    this.#nodes.get(name)?.stop();
    return this.#nodes.has(name);
  }

  /** Ends the simulated failure. */
  startNode(name: string): boolean {
    this.#nodes.get(name)?.start();
    return this.#nodes.has(name);
  }

  /** One more node, while the fleet runs. False if there is one of this name. */
  add(settings: NodeSettings): boolean {
    if (this.#begin === undefined || this.#nodes.has(settings.name)) return false;
    this.#begin(settings);
    return true;
  }

  /** Ends a node for good. Its Node and its Pods are left to others. */
  remove(name: string): void {
    this.#ends.get(name)?.abort(new Error(`the node ${name} is removed`));
    this.#ends.delete(name);
    this.#nodes.delete(name);
  }

  /** What the kubelet's /metrics/resource would have. Throws if there is no such node, or if it is stopped. */
  resourceMetrics(name: string): string {
    const text = this.resourceMetricsOf(name);
    if (text === undefined) throw new Error(`the simulated node ${name} does not answer`);
    return text;
  }

  /** The same; undefined if there is no such node, or if it is stopped. */
  resourceMetricsOf(name: string): string | undefined {
    return this.#nodes.get(name)?.resourceMetrics();
  }

  #work(tasks: TaskGroup): void {
    const { log } = this.#options;
    tasks.run("pods", (signal) =>
      processQueue(
        this.#pods,
        {
          concurrency: POD_WORKERS,
          signal,
          onFailure: (error, { pod }) => {
            log.warn("pod status could not be written", { pod: pod.metadata.name, error });
            return "retry";
          },
        },
        (entry) => entry.owner.work(entry),
      ),
    );
    tasks.run("chores", (signal) =>
      processQueue(
        this.#chores,
        {
          concurrency: CHORE_WORKERS,
          signal,
          onFailure: (error, { node, what }) => {
            log.warn("work of a simulated node failed", { node: node.name, what, error });
            return "retry";
          },
        },
        ({ node, what }) => node.work(what),
      ),
    );
  }

  /** The Pods whose containers run, on all nodes. */
  *runningPods(): Iterable<core.Pod> {
    for (const node of this.#nodes.values()) yield* node.running;
  }

  #shared(tasks: TaskGroup) {
    const { facts, defaults, usage: given, clock, random, log } = this.#options;
    const running = () => this.runningPods();
    const usage: NodeUsageSource | undefined = given && ((question) => given({ ...question, running }));
    const known = new Map<string, string>();
    const imageID = (image: string) => {
      let id = known.get(image);
      if (id === undefined) {
        id = `${image.replace(/[:@][^/]*$/, "")}@sha256:${createHash("sha256").update(image).digest("hex")}`;
        known.set(image, id);
      }
      return id;
    };
    return {
      facts,
      usage,
      defaults: { ...DEFAULTS, ...defaults },
      starts: new RecentStarts(clock),
      chores: this.#chores,
      pods: this.#pods,
      tasks,
      newId: () => `simulated://${Buffer.from(random.bytes(32)).toString("hex")}`,
      imageID,
      clock,
      random,
      log,
    };
  }
}

/** A node that is removed ends without ending the fleet. */
async function untilEnded(node: FleetNode, running: AbortSignal, end: AbortSignal): Promise<void> {
  try {
    await node.run(running);
  } catch (error) {
    if (!end.aborted) throw error;
  }
}
