/**
 * The resource metrics API, like metrics-server: it asks kubelets, and answers requests from memory.
 *
 *     Nodes, Pods --► caches            kubelets ···► rounds ──► storage
 *                        └──────────────┬──────────────────────────┘
 *     request ──► answer ◄──────────────┘
 */
import { type core, type KubeObject, kinds } from "#api";
import { abortable, type Clock, isAbort, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informer, type ResourceClient } from "#client";
import { type MetricsAnswer, type MetricsRequest, metricsApi } from "./api/answer.ts";
import { PointStorage } from "./points/storage.ts";
import { runRounds } from "./scrape/rounds.ts";
import type { Scraper } from "./scrape/scraper.ts";

export const DEFAULT_RESOLUTION_MS = 15_000;

export interface MetricsServerOptions {
  readonly client: Client;
  /** The Pods, if not those of `client`: their metadata are enough. */
  readonly pods?: ResourceClient<KubeObject> | undefined;
  readonly scrape: Scraper;
  /** How often nodes are asked. */
  readonly resolutionMs?: number | undefined;
  /** Only Nodes with these labels. */
  readonly nodeSelector?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class MetricsServer {
  readonly #options: MetricsServerOptions;
  readonly #nodes: Informer<core.Node>;
  readonly #pods: Informer<KubeObject>;
  readonly #storage: PointStorage;
  readonly #answer: (request: MetricsRequest) => MetricsAnswer;
  #hasRound = false;

  constructor(options: MetricsServerOptions) {
    const { client, clock, random, log, nodeSelector, resolutionMs = DEFAULT_RESOLUTION_MS } = options;
    this.#options = options;
    const selectors = nodeSelector === undefined ? undefined : { labelSelector: nodeSelector };
    const watching = { clock, random, log };
    this.#nodes = new Informer({ client: client.of(kinds.Node), ...watching, ...(selectors && { selectors }) });
    this.#pods = new Informer<KubeObject>({
      client: options.pods ?? (client.of(kinds.Pod) as unknown as ResourceClient<KubeObject>),
      ...watching,
    });
    this.#storage = new PointStorage(resolutionMs);
    const existing = {
      nodes: () => this.#nodes.cache.list(),
      pods: (namespace: string | undefined) =>
        namespace === undefined ? this.#pods.cache.list() : this.#pods.cache.inNamespace(namespace),
    };
    this.#answer = metricsApi({ storage: this.#storage, existing, now: () => clock.now() });
  }

  /** Whether all nodes have been asked once. */
  get isReady(): boolean {
    return this.#hasRound;
  }

  answer(request: MetricsRequest): MetricsAnswer {
    return this.#answer(request);
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { scrape, clock, random, log, resolutionMs = DEFAULT_RESOLUTION_MS } = this.#options;
    const tasks = new TaskGroup({ parent: signal });
    tasks.run("nodes", (running) => this.#nodes.run(running));
    tasks.run("pods", (running) => this.#pods.run(running));
    tasks.run("rounds", async (running) => {
      try {
        await abortable(Promise.all([this.#nodes.synced, this.#pods.synced]), running);
        const nodes = () => this.#nodes.cache.list();
        const onRound = () => {
          this.#hasRound = true;
        };
        const storage = this.#storage;
        await runRounds({ nodes, scrape, storage, resolutionMs, clock, random, log, onRound }, running);
      } catch (error) {
        if (!isAbort(error, running)) throw error;
      }
    });
    await tasks.done();
  }
}
