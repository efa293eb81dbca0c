/**
 * A cluster in which nothing is left to the machine that runs it: time, order, delays, names and uids all follow from
 * the seed.
 *
 *     components ──► Faults ──► Network ──► API server ──► SeenStore ──► memory store
 *          └──────── SimulationClock: one thing at a time ────────┘
 *
 * 1. A component that dies loses what it knows, and starts again with what the API has.
 */
import type { KubeObject } from "#api";
import { MetricsRegistry, nextTurn, type Random, seededRandom, silentLogger } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import type { Controller } from "#controllers";
import type { Handle } from "../../apiserver/http/exchange.ts";
import type { LeaderElectionOptions } from "../../client/leader-election.ts";
import type { NodesConfig } from "../../cluster/config/cluster-config.ts";
import type { ControllerManagerOptions } from "../../cluster/in-process/controller-manager.ts";
import { InProcessMetrics } from "../../cluster/in-process/metrics-server.ts";
import { simulatedNames } from "../../cluster/in-process/simulated-nodes.ts";
import { type Image, type TestApiServer, testApiServer } from "../cluster/api-server.ts";
import { type Components, startComponents } from "../cluster/components.ts";
import { type ImageScript, scriptsOf } from "../cluster/options.ts";
import { Faults } from "../faults/faults.ts";
import { type Decisions, seedFor } from "./decisions.ts";
import { History } from "./history.ts";
import { type Latency, Network } from "./network.ts";
import { type Objects, seenStore } from "./seen-store.ts";
import { SimulationClock } from "./simulation-clock.ts";

/** What runs in it. */
export interface Parts {
  readonly nodes: NodesConfig;
  /** As in `--controllers`. */
  readonly controllers?: readonly string[] | undefined;
  readonly operators?: readonly Controller[] | undefined;
  readonly images?: Readonly<Record<string, ImageScript>> | undefined;
}

/** What is wrong on purpose: see bugs. */
export interface Meddling {
  /** On the way of a component to the API server. */
  readonly connection?: ((component: string, handle: Handle, cluster: SimulatedCluster) => Handle) | undefined;
  readonly controllers?: ControllerManagerOptions["controllers"];
  readonly operators?: ((operators: readonly Controller[]) => readonly Controller[]) | undefined;
  /** At the API server's door. */
  readonly server?: ((handle: Handle, cluster: SimulatedCluster) => Handle) | undefined;
  /** How long leases last for candidates. */
  readonly election?: ((identity: string) => ElectionTimes) | undefined;
}

export type ElectionTimes = Pick<LeaderElectionOptions, "leaseMs" | "renewDeadlineMs" | "retryMs">;

export interface SimulatedClusterOptions extends Parts {
  readonly seed: number;
  readonly decisions: Decisions;
  readonly latency: Latency;
  /** Default: a new cluster. */
  readonly prepared?: { readonly image: Image; readonly objects: ReadonlyMap<string, KubeObject> } | undefined;
  readonly meddling?: Meddling | undefined;
}

const ADMIN = { name: "user", groups: ["system:masters", "system:authenticated"] };
const MOST_MS = 300_000;
const START_MS = Date.UTC(2030, 0, 1);
/** As on every machine. */
const MACHINE = { instance: "simulation", architecture: "amd64" };
/** Nothing is signed in a simulation, and nobody checks a certificate. */
const AUTHORITY = { certPem: "the authority of a simulation", keyPem: "" };

export class SimulatedCluster {
  readonly clock: SimulationClock;
  readonly history: History;
  readonly network: Network;
  readonly faults: Faults;
  /** What the store has, by key. */
  readonly objects: Objects;
  /** How long a write to the store takes. */
  storeMs = 0;
  readonly #options: SimulatedClusterOptions;
  readonly #clients: Client[] = [];
  readonly #restarts = new Set<Promise<void>>();
  readonly #lives = new Map<string, number>();
  #server: TestApiServer | undefined;
  #components: Components | undefined;
  #isStopping = false;

  private constructor(options: SimulatedClusterOptions) {
    const { seed, decisions, latency, prepared } = options;
    const { image, objects = [] } = prepared ?? {};
    this.#options = options;
    const clock = new SimulationClock(image?.now ?? START_MS, decisions);
    this.clock = clock;
    this.history = new History({ nowMs: () => clock.monotonic(), origin: image?.state.revision ?? 0 });
    this.objects = new Map(objects);
    this.network = new Network({ clock, decisions, history: this.history, latency });
    this.faults = new Faults(clock, seededRandom(seedFor(seed, "faults")), (name, bury) => this.#restart(name, bury));
  }

  static async open(options: SimulatedClusterOptions): Promise<SimulatedCluster> {
    const cluster = new SimulatedCluster(options);
    const { clock, history, objects } = cluster;
    const pause = () =>
      cluster.storeMs === 0 ? undefined : clock.sleep(options.decisions.integer(cluster.storeMs + 1));
    cluster.#server = await testApiServer({
      clock,
      random: cluster.#random("kube-apiserver"),
      image: options.prepared?.image,
      metrics: new MetricsRegistry(),
      tokens: new Map(),
      caPem: AUTHORITY.certPem,
      extensions: new InProcessMetrics().extensions,
      seen: (store) =>
        seenStore(store, objects, {
          nowMs: () => clock.monotonic(),
          committed: (commit, bytes) => history.committed(commit, bytes),
          pause,
        }),
    });
    return cluster;
  }

  get server(): TestApiServer {
    if (this.#server === undefined) throw new Error("the API server is not open yet");
    return this.#server;
  }

  get components(): Components | undefined {
    return this.#components;
  }

  /** Names of its nodes. */
  get nodes(): readonly string[] {
    return simulatedNames(this.#options.nodes);
  }

  /** How long leases last for this candidate. */
  election(identity: string): ElectionTimes {
    return this.#options.meddling?.election?.(identity) ?? {};
  }

  start(): void {
    const { nodes, controllers, operators = [], images, meddling } = this.#options;
    const { reasons } = this.server;
    this.#components = startComponents(
      {
        ...{ nodes, controllers, images: scriptsOf(images) },
        scheduler: true,
        allControllers: meddling?.controllers,
        operators: meddling?.operators?.(operators) ?? operators,
      },
      {
        handleOf: (component) => this.#connection(component),
        authority: AUTHORITY as never,
        signToken: async () => "a token of a simulation",
        reasons,
        clock: this.clock,
        randomOf: (component) => this.#random(component),
        machine: MACHINE,
        log: silentLogger,
      },
    );
  }

  /** An administrator's client. */
  client(name = ADMIN.name): Client {
    const handle = this.network.between(name, this.#door) as InProcessHandle;
    const client = new Client({
      transport: inProcess(handle, { ...ADMIN, name }),
      clock: this.clock,
      userAgent: "k8ts-simulate",
    });
    this.#clients.push(client);
    return client;
  }

  /** How many components are between two lives. */
  get restarting(): number {
    return this.#restarts.size;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.faults.clear();
    const stopping = Promise.all([
      ...this.#clients.map((client) => client.close()),
      ...this.#restarts,
      this.#components?.stop(),
    ]);
    await this.while(stopping, "components");
    await this.while(this.server.close(), "API server");
  }

  /** Lets time pass. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.clock.monotonic() + ms;
    while (await this.clock.step(untilMs));
  }

  /** Time goes on while this is under way. */
  async while(work: Promise<unknown>, what: string): Promise<void> {
    let ended = false;
    const over = () => {
      ended = true;
    };
    work.then(over, over);
    const untilMs = this.clock.monotonic() + MOST_MS;
    await this.clock.settle();
    while (!ended && (await this.clock.step(untilMs)));
    if (!ended) throw new Error(`the ${what} of a simulation did not come to an end`);
    await work;
  }

  get #door(): Handle {
    const handle = this.server.handle as Handle;
    return this.#options.meddling?.server?.(handle, this) ?? handle;
  }

  #connection(component: string): InProcessHandle {
    const { meddling } = this.#options;
    const handle = this.network.between(component, this.#door);
    const meddled = meddling?.connection?.(component, handle, this) ?? handle;
    return this.faults.between(component, meddled as InProcessHandle);
  }

  /** Of its own for each life of each component: what happens to one does not change the numbers of another. */
  #random(component: string): Random {
    const { seed, prepared } = this.#options;
    const life = this.#lives.get(component) ?? 0;
    this.#lives.set(component, life + 1);
    return seededRandom(seedFor(seed, `${component} ${life} ${prepared?.image.state.revision ?? 0}`));
  }

  #restart(component: string, bury: () => void): void {
    this.history.note(`${component} dies`);
    const restart = async () => {
      // Not in the middle of its own request.
      await nextTurn();
      if (this.#isStopping) bury();
      else await this.#components?.restart(component, bury);
    };
    const restarted = restart();
    this.#restarts.add(restarted);
    const over = () => this.#restarts.delete(restarted);
    restarted.then(over, over);
  }
}
