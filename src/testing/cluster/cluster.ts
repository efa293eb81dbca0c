/**
 * A whole cluster in the process of a test: API server, controllers, scheduler and nodes, on virtual time.
 *
 *     image ──► API server ──► components ··· on the first write, or when time moves
 *       ▲            │
 *       └── fork ◄───┘
 *
 * 1. Nothing happens behind a test's back: work that is due is done when the test waits for it, time moves when the
 *    test moves it.
 * 2. A fork has all objects at their revisions, and the time. Its components begin with them as after a restart; they
 *    start when something is to do.
 * 3. `stop` ends within a limit of real time, and says what did not end.
 */
import { MetricsRegistry, type Random, realClock, seededRandom, silentLogger, VirtualClock } from "#base";
import { Client, type InProcessUser, inProcess } from "#client";
import { type Authority, createAuthority } from "#pki";
import type { NodesConfig } from "../../cluster/config/cluster-config.ts";
import { InProcessMetrics } from "../../cluster/in-process/metrics-server.ts";
import { Faults } from "../faults/faults.ts";
import { type Image, type TestApiServer, testApiServer } from "./api-server.ts";
import { type Components, startComponents } from "./components.ts";
import { Connections } from "./connections.ts";
import { eventually, type Limits } from "./eventually.ts";
import { applyAll, installDefinitions, type Manifest, objectsOf } from "./manifests.ts";
import { type ClusterOptions, scriptsOf } from "./options.ts";
import { type OpenPort, openPort } from "./port.ts";
import { TestClock } from "./test-clock.ts";

export const ADMIN: InProcessUser = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const STOP_WITHIN_MS = 10_000;

/** What a cluster and its forks have in common. */
interface Common {
  readonly options: ClusterOptions;
  readonly authority: Authority;
}

export class TestCluster implements AsyncDisposable {
  /** An administrator's client. */
  readonly client: Client;
  readonly clock: TestClock;
  readonly faults: Faults;
  readonly #common: Common;
  readonly #time: VirtualClock;
  readonly #server: TestApiServer;
  readonly #connections: Connections;
  readonly #random: Random;
  readonly #metrics: MetricsRegistry;
  readonly #clients: Client[] = [];
  readonly #forks = new Set<TestCluster>();
  #components: Components | undefined;
  #port: OpenPort | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(
    common: Common,
    time: VirtualClock,
    random: Random,
    server: TestApiServer,
    metrics: MetricsRegistry,
  ) {
    this.#common = common;
    this.#time = time;
    this.#random = random;
    this.#server = server;
    this.#metrics = metrics;
    this.faults = new Faults(time, random);
    this.#connections = new Connections(server.handle, (component, handle) => this.faults.between(component, handle));
    this.clock = new TestClock(time, {
      underWay: () => this.#connections.underWay,
      beforeMoving: () => this.#wake(),
    });
    this.client = this.as(ADMIN);
  }

  /** A cluster on an image, or a new one. Its components do not run yet. */
  static async open(common: Common, image?: Image): Promise<TestCluster> {
    const { seed = 1, startAt, log = silentLogger } = common.options;
    const time = new VirtualClock(image?.now ?? startAt?.getTime());
    const random = seededRandom(seed);
    const metrics = new MetricsRegistry();
    const server = await testApiServer({
      ...{ clock: time, random, image, metrics, log },
      tokens: new Map([[ADMIN_TOKEN, ADMIN]]),
      caPem: common.authority.certPem,
      extensions: new InProcessMetrics().extensions,
    });
    return new TestCluster(common, time, random, server, metrics);
  }

  /** A client in this process as another user, for RBAC. */
  as(user: InProcessUser): Client {
    const writes = ({ method }: { readonly method: string }) => {
      if (method !== "GET") this.#wake();
    };
    const client = new Client({
      transport: inProcess(this.#connections.of(user.name, writes), user),
      clock: this.#time,
      userAgent: "k8ts-testing",
    });
    this.#clients.push(client);
    return client;
  }

  /** A file for other clients, if the cluster has a port. */
  get kubeconfig(): string | undefined {
    return this.#port?.kubeconfig;
  }

  /** The address of its port, if it has one. */
  get url(): string | undefined {
    return this.#port?.url;
  }

  /** Applies objects, files and folders of any kind. */
  async apply(...manifests: readonly Manifest[]): Promise<void> {
    await applyAll(this.client, await objectsOf(manifests));
    await this.clock.settle();
  }

  /** Waits until nothing is left to do unless time passes. */
  settle(): Promise<void> {
    this.#wake();
    return this.clock.settle();
  }

  /** Moves time from one thing that is due to the next until `read` gives a value; throws when the limit is reached. */
  eventually<T>(read: () => Promise<T | undefined> | T | undefined, limits: Limits = {}): Promise<T> {
    this.#wake();
    return eventually(this, read, limits);
  }

  /** What it is doing or waiting for, as lines: for the message of a test that fails. */
  waitingFor(): readonly string[] {
    const { nextDueMs } = this.clock;
    return [
      ...this.#connections.describe().map((text) => `not answered yet: ${text}`),
      nextDueMs === undefined ? "nothing is due" : `the next thing is due in ${nextDueMs} ms of its time`,
      `components: ${this.#components?.names.join(", ") ?? "not started, nothing was written yet"}`,
    ];
  }

  /** Another cluster with everything that this one has. */
  async fork(): Promise<TestCluster> {
    await this.clock.settle();
    const fork = await TestCluster.open(this.#common, this.#server.image());
    this.#forks.add(fork);
    return fork;
  }

  /** Simulates the failure of a node: its Lease expires, its Pods stay as they are. */
  stopNode(name: string): void {
    this.#node((fleet) => fleet.stopNode(name), name);
  }

  startNode(name: string): void {
    this.#node((fleet) => fleet.startNode(name), name);
  }

  #node(change: (fleet: NonNullable<Components["fleet"]>) => boolean, name: string): void {
    this.#wake();
    const fleet = this.#components?.fleet;
    if (fleet === undefined || !change(fleet)) throw new Error(`there is no simulated node ${name}`);
  }

  /** What happened: flow records of requests, writes, reconciles and deliveries. */
  get records() {
    return this.#server.recorder;
  }

  /** Stops a component and starts it again, with what the API has. */
  async restart(): Promise<void> {
    await this.#components?.stop();
    this.#components = undefined;
    this.#wake();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** For `startCluster`: the rest of the start. */
  async begin(): Promise<void> {
    const { crds = [], manifests = [], port } = this.#common.options;
    const definitions = await objectsOf(crds);
    const objects = await objectsOf(manifests);
    this.#wake();
    await this.clock.settle();
    await this.#components?.fleet?.ready;
    await installDefinitions(this.client, definitions, () => this.clock.settle());
    await applyAll(this.client, objects);
    if (port !== undefined) {
      const { handle } = this.#server;
      this.#port = await openPort({ port, handle, token: ADMIN_TOKEN });
    }
    await this.clock.settle();
  }

  #wake(): void {
    if (this.#components !== undefined || this.#stopped !== undefined) return;
    const {
      nodes = 1,
      controllers,
      scheduler = true,
      operators = [],
      images,
      usage,
      log = silentLogger,
    } = this.#common.options;
    this.#components = startComponents(
      { nodes: nodesOf(nodes), controllers, scheduler, operators, images: scriptsOf(images), usage },
      {
        handleOf: (component) => this.#connections.of(component),
        authority: this.#common.authority,
        signToken: this.#server.signToken,
        reasons: this.#server.reasons,
        metrics: this.#metrics,
        clock: this.#time,
        random: this.#random,
        log,
      },
    );
  }

  async #stop(): Promise<void> {
    const forks = [...this.#forks].map((fork) => fork.stop());
    const parts: readonly (readonly [string, () => Promise<unknown> | undefined])[] = [
      ["forks", () => Promise.all(forks)],
      ["components", () => this.#components?.stop()],
      ["clients", () => Promise.all(this.#clients.map((client) => client.close()))],
      ["port", () => this.#port?.close()],
      ["API server", () => this.#server.close()],
    ];
    const { stopWithinMs = STOP_WITHIN_MS } = this.#common.options;
    const limit = realClock();
    for (const [name, stop] of parts) {
      const late = new AbortController();
      const tooLate = limit.sleep(stopWithinMs, late.signal).then(
        () => {
          throw new Error([`the ${name} did not stop within ${stopWithinMs} ms:`, ...this.waitingFor()].join("\n  "));
        },
        () => {},
      );
      try {
        await Promise.race([stop(), tooLate]);
      } finally {
        late.abort();
      }
    }
  }
}

/** The bearer token of the administrator on a cluster with a port. It opens nothing but this cluster on loopback. */
const ADMIN_TOKEN = "the-administrator-of-a-test-cluster";

function nodesOf(nodes: number | NodesConfig): NodesConfig | undefined {
  if (typeof nodes !== "number") return nodes;
  return nodes === 0 ? undefined : { count: nodes };
}

/** Resolves when all nodes are Ready, custom resources are served and manifests are applied. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const startMs = options.startAt?.getTime();
  const authority = await createAuthority({ commonName: "kubernetes", clock: new VirtualClock(startMs) });
  const cluster = await TestCluster.open({ options, authority });
  try {
    await cluster.begin();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
