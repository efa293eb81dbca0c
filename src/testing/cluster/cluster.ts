/**
 * A whole cluster in the process of a test: API server, controllers, scheduler and nodes, on virtual time.
 *
 *     image ──► API server ──► components ··· on the first write, or when time moves
 *       ▲            │
 *       └── fork ◄───┘
 *
 * 1. Nothing happens behind a test's back: work that is due is done when the test waits for it, time moves when the
 *    test moves it.
 * 2. A fork has all objects at their revisions, and the time. Its components begin with them as after a restart.
 * 3. `reset` brings back the state in which `startCluster` or `fork` returned it. Clients and the clock stay valid.
 */
import type { KubeObject } from "#api";
import { type Clock, systemRandom, VirtualClock } from "#base";
import { Client, type InProcessHandle, type InProcessUser, inProcess, type ResourceOf } from "#client";
import type { Recorder } from "#flows";
import type { Fleet } from "#kubelet";
import { createAuthority } from "#pki";
import { resourceName } from "../../client/requests/resource.ts";
import type { ComponentName, Faults } from "../faults/faults.ts";
import type { Explained } from "../matchers/explain.ts";
import { ObjectOf } from "../matchers/matchers.ts";
import type { Image } from "./api-server.ts";
import { eventually, type Limits } from "./eventually.ts";
import { applyAll, installDefinitions, type Manifest, objectsOf } from "./manifests.ts";
import type { ClusterOptions } from "./options.ts";
import { type Connection, type OpenPort, openPort } from "./port.ts";
import { type Common, type Control, RunningCluster } from "./running.ts";
import { TestClock } from "./test-clock.ts";

const ADMIN: InProcessUser = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const TOKEN_BYTES = 24;
/** Clients of the port, as faults call them. */
const CLIENTS = "clients";

export class TestCluster implements AsyncDisposable {
  /** An administrator's client. */
  readonly client: Client;
  readonly clock: TestClock;
  readonly #common: Common;
  readonly #clients: Client[] = [];
  readonly #forks = new Set<TestCluster>();
  readonly #control: Control | undefined;
  /** Clusters that a reset has replaced, until they have stopped. */
  readonly #replaced = new Set<Promise<void>>();
  #running: RunningCluster;
  #beginning: Image | undefined;
  #port: OpenPort | undefined;
  #stopped: Promise<void> | undefined;
  /** Of a fork: its parent forgets it. */
  #left: () => void = () => {};

  /** Use `startCluster`. */
  constructor(
    common: Common,
    running: RunningCluster,
    { beginning, control }: { beginning?: Image; control?: Control | undefined } = {},
  ) {
    this.#common = common;
    this.#control = control;
    this.#running = running;
    this.#beginning = beginning;
    this.clock = new TestClock({
      time: () => this.#running.time,
      underWay: () => {
        const { connections, restarting, faults } = this.#running;
        return connections.underWay + restarting - faults.asleep;
      },
      beforeMoving: () => this.#running.wake(),
    });
    this.client = this.as(ADMIN);
  }

  /** What goes wrong between its components. */
  get faults(): Faults {
    return this.#running.faults;
  }

  /** A file for other clients, if the cluster has a port. */
  get kubeconfig(): string | undefined {
    return this.#port?.kubeconfig;
  }

  /** How clients reach its port, if it has one. */
  get connection(): Connection | undefined {
    return this.#port?.connection;
  }

  /** The address of its port, if it has one. */
  get url(): string | undefined {
    return this.#port?.url;
  }

  /** What happened: flow records of requests, writes, reconciles and deliveries. */
  get records(): Recorder {
    return this.#running.server.recorder;
  }

  /** An object, whether or not it exists, for `toEventually`. */
  object<T extends KubeObject>(resource: ResourceOf<T>, name: string, namespace?: string): ObjectOf<T> {
    return new ObjectOf<T>(this, resourceName(resource), name, namespace);
  }

  /** What explanations are made of. */
  explained(): Explained {
    const { recorder, reasons } = this.#running.server;
    // As its JSON would say.
    const attemptsOf = (uid: string) => reasons.of(uid) as ReturnType<Explained["attemptsOf"]>;
    return { client: this.client, records: recorder.records(), attemptsOf, clock: this.#clientClock() };
  }

  /** A client in this process as another user, for RBAC. */
  as(user: InProcessUser): Client {
    const handle: InProcessHandle = (request) => {
      if (request.method !== "GET") this.#running.wake();
      return this.#running.connections.of(user.name)(request);
    };
    const client = new Client({
      transport: inProcess(handle, user),
      clock: this.#clientClock(),
      userAgent: "k8ts-testing",
    });
    this.#clients.push(client);
    return client;
  }

  /** Applies objects, files and folders of any kind. */
  async apply(...manifests: readonly Manifest[]): Promise<void> {
    await applyAll(this.client, await objectsOf(manifests));
    await this.clock.settle();
  }

  /** Waits until nothing is left to do unless time passes. */
  settle(): Promise<void> {
    this.#running.wake();
    return this.clock.settle();
  }

  /**
   * Moves time from one thing that is due to the next until `read` gives a value other than undefined or false; throws
   * when the limit is reached.
   */
  eventually<T>(read: () => Promise<T | undefined> | T | undefined, limits: Limits = {}): Promise<T> {
    this.#running.wake();
    return eventually(this, read, limits);
  }

  /** What it is doing or waiting for, as lines: for the message of a test that fails. */
  waitingFor(): readonly string[] {
    return this.#running.describe();
  }

  /** Another cluster with everything that this one has. It stops with this one. `port`: as in `startCluster`. */
  async fork({ port }: { readonly port?: number | undefined } = {}): Promise<TestCluster> {
    await this.clock.settle();
    const beginning = this.#running.server.image();
    const control = this.#control?.forFork();
    const running = await RunningCluster.open(this.#common, beginning, control);
    const fork = new TestCluster(this.#common, running, { beginning, control });
    this.#forks.add(fork);
    fork.#left = () => this.#forks.delete(fork);
    if (port !== undefined) await fork.open(port, this.#port);
    control?.attach(fork);
    return fork;
  }

  /** Goes back to the beginning. Watches that are open end; a cluster with a port cannot be reset. */
  async reset(): Promise<void> {
    if (this.#port !== undefined) throw new Error("a cluster with a port cannot be reset: reset a fork of it");
    const before = this.#running;
    this.#running = await RunningCluster.open(this.#common, this.#beginning, this.#control);
    const stopping = before.stop();
    this.#replaced.add(stopping);
    stopping.then(
      () => this.#replaced.delete(stopping),
      () => {},
    );
  }

  /** Simulates the failure of a node: its Lease expires, its Pods stay as they are. */
  stopNode(name: string): void {
    this.#changeNode(name, (fleet) => fleet.stopNode(name));
  }

  startNode(name: string): void {
    this.#changeNode(name, (fleet) => fleet.startNode(name));
  }

  /** Ends components as they are, and starts them with what the API has. Default: all of them. */
  async restart(...components: readonly ComponentName[]): Promise<void> {
    await this.#running.restart(components.length === 0 ? undefined : components);
    await this.clock.settle();
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
    const [definitions, objects] = [await objectsOf(crds), await objectsOf(manifests)];
    if (port !== undefined) await this.open(port);
    this.#control?.opened?.(this);
    this.#running.wake();
    await this.clock.settle();
    await this.#running.components?.fleet?.ready;
    await installDefinitions(this.client, definitions, () => this.clock.settle());
    await applyAll(this.client, objects);
    await this.clock.settle();
    this.#beginning = this.#running.server.image();
    this.#control?.attach(this);
  }

  /** For forks: opens the port, with the authority of its parent's. */
  async open(port: number, parent?: OpenPort): Promise<void> {
    const { token, options } = this.#common;
    const { server, connections } = this.#running;
    const clients = connections.of(CLIENTS);
    const handle: InProcessHandle = (request) => {
      // They may wait for what happens in the cluster, which must not wait for them.
      if (request.path.startsWith("/k8ts/")) return server.handle(request);
      if (request.method !== "GET") this.#running.wake();
      return clients(request);
    };
    const kubeconfig = parent === undefined ? options.kubeconfig : undefined;
    this.#port = await openPort({ port, handle, token, kubeconfig, authority: parent?.authority });
  }

  #changeNode(name: string, change: (fleet: Fleet) => boolean): void {
    this.#running.wake();
    const fleet = this.#running.components?.fleet;
    if (fleet === undefined || !change(fleet)) throw new Error(`there is no simulated node ${name}`);
  }

  /** That of the cluster as it runs now. */
  #clientClock(): Clock {
    const time = () => this.#running.time;
    return {
      now: () => time().now(),
      monotonic: () => time().monotonic(),
      timer: (ms, fire) => time().timer(ms, fire),
      sleep: (ms, signal) => time().sleep(ms, signal),
    };
  }

  async #stop(): Promise<void> {
    await this.#control?.stop();
    await Promise.all([...this.#forks].map((fork) => fork.stop()));
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#port?.close();
    await Promise.all([this.#running.stop(), ...this.#replaced]);
    this.#left();
  }
}

/** Resolves when all nodes are Ready, custom resources are served and manifests are applied. */
export function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  return startControlled(options);
}

/** The same, for a cluster that others control by requests. */
export async function startControlled(options: ClusterOptions, control?: Control): Promise<TestCluster> {
  const time = new VirtualClock(options.startAt?.getTime());
  const authority = await createAuthority({ commonName: "kubernetes", clock: time });
  const token = Buffer.from(systemRandom().bytes(TOKEN_BYTES)).toString("hex");
  const common = { options, authority, token, tokens: new Map([[token, ADMIN]]) };
  const cluster = new TestCluster(common, await RunningCluster.open(common, undefined, control), { control });
  try {
    await cluster.begin();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
