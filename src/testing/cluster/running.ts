/**
 * A cluster that runs: its time, API server and components. A reset replaces it by another one.
 *
 * 1. Components start with the first write and when time moves: a fork that is only read costs nothing more.
 * 2. `stop` ends within a limit of real time, and says what did not end.
 */
import type { Features } from "#api";
import { MetricsRegistry, nextTurn, type Random, realClock, seededRandom, silentLogger, VirtualClock } from "#base";
import type { InProcessUser } from "#client";
import type { Authority } from "#pki";
import type { ApiServerOptions } from "../../apiserver/server-options.ts";
import { readApis } from "../../cluster/config/apis.ts";
import type { NodesConfig } from "../../cluster/config/cluster-config.ts";
import { readFeatures } from "../../cluster/config/features.ts";
import { InProcessMetrics } from "../../cluster/in-process/metrics-server.ts";
import { Faults } from "../faults/faults.ts";
import { type Image, type TestApiServer, testApiServer } from "./api-server.ts";
import type { TestCluster } from "./cluster.ts";
import { type Components, startComponents } from "./components.ts";
import { Connections } from "./connections.ts";
import { type ClusterOptions, scriptsOf } from "./options.ts";

const STOP_WITHIN_MS = 10_000;
/** Seeds of users are small numbers. */
const REVISION_STRIDE = 65_537;

/** What others can do with a cluster by requests, while it runs. */
export interface Control {
  readonly others: NonNullable<ApiServerOptions["others"]>;
  /** Its port is open. */
  opened?(cluster: TestCluster): void;
  /** It is ready. */
  attach(cluster: TestCluster): void;
  /** That of a fork. */
  forFork(): Control;
  stop(): Promise<void>;
}

/** What a cluster and its forks have in common. */
export interface Common {
  readonly options: ClusterOptions;
  readonly authority: Authority;
  /** The administrator's, for clients outside of the process. */
  readonly token: string;
  /** Users of bearer tokens. */
  readonly tokens: ReadonlyMap<string, InProcessUser>;
}

export class RunningCluster {
  readonly time: VirtualClock;
  readonly server: TestApiServer;
  readonly connections: Connections;
  readonly faults: Faults;
  readonly #common: Common;
  readonly #random: Random;
  #components: Components | undefined;
  readonly #restarts = new Set<Promise<void>>();
  #isStopping = false;

  private constructor(
    common: Common,
    made: {
      readonly time: VirtualClock;
      readonly random: Random;
      readonly server: TestApiServer;
    },
  ) {
    this.#common = common;
    this.time = made.time;
    this.server = made.server;
    this.#random = made.random;
    this.faults = new Faults(made.time, seededRandom(common.options.faultSeed ?? 1), (name, bury) =>
      this.#restartLater(name, bury),
    );
    this.connections = new Connections(made.server.handle, (name, handle) => this.faults.between(name, handle));
  }

  /** On an image, or new. */
  static async open(common: Common, image?: Image, control?: Control): Promise<RunningCluster> {
    const { seed = 1, startAt, log = silentLogger } = common.options;
    const time = new VirtualClock(image?.now ?? startAt?.getTime());
    // Another sequence than before the image: no uid comes twice in one cluster.
    const random = seededRandom(seed + REVISION_STRIDE * (image?.state.revision ?? 0));
    const server = await testApiServer({
      ...{ clock: time, random, image, metrics: new MetricsRegistry(), log },
      tokens: common.tokens,
      others: control?.others,
      features: featuresOf(common.options),
      apis: readApis(common.options.runtimeConfig),
      caPem: common.authority.certPem,
      extensions: new InProcessMetrics().extensions,
    });
    return new RunningCluster(common, { time, random, server });
  }

  get components(): Components | undefined {
    return this.#components;
  }

  /** What it is doing or waiting for. */
  describe(): readonly string[] {
    const { nextDueMs } = this.time;
    return [
      ...this.connections.describe().map((text) => `not answered yet: ${text}`),
      nextDueMs === undefined ? "nothing is due" : `the next thing is due in ${nextDueMs} ms of its time`,
      `components: ${this.#components?.names.join(", ") ?? "not started, nothing was written yet"}`,
    ];
  }

  wake(): void {
    if (this.#components !== undefined || this.#isStopping) return;
    const { options, authority } = this.#common;
    const { nodes = 1, controllers, scheduler = true, operators = [], images, usage, log = silentLogger } = options;
    const { signToken, reasons } = this.server;
    this.#components = startComponents(
      {
        ...{ nodes: nodesOf(nodes), controllers, scheduler, operators, images: scriptsOf(images), usage },
        features: featuresOf(options),
      },
      {
        handleOf: (component) => this.connections.of(component),
        ...{ authority, signToken, reasons, log },
        clock: this.time,
        randomOf: () => this.#random,
      },
    );
  }

  /** How many components are between two lives. */
  get restarting(): number {
    return this.#restarts.size;
  }

  /** Ends components as they are, and starts them with what the API has. */
  async restart(names: readonly string[] = this.#components?.names ?? []): Promise<void> {
    await Promise.all(names.map((name) => this.#components?.restart(name)));
    this.wake();
  }

  #restartLater(name: string, bury: () => void): void {
    const restart = async () => {
      // Not in the middle of its own request.
      await nextTurn();
      if (this.#isStopping) bury();
      else await this.#components?.restart(name, bury);
    };
    const restarted = restart();
    this.#restarts.add(restarted);
    const over = () => this.#restarts.delete(restarted);
    restarted.then(over, over);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const { stopWithinMs = STOP_WITHIN_MS } = this.#common.options;
    const limit = { ms: stopWithinMs, describe: () => this.describe() };
    await within(limit, "components", async () => {
      await Promise.all(this.#restarts);
      await this.#components?.stop();
    });
    await within(limit, "API server", () => this.server.close());
  }
}

/** Ends with an error if the work takes too long. */
export async function within(
  { ms, describe }: { readonly ms: number; readonly describe: () => readonly string[] },
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  const done = new AbortController();
  const tooLate = async () => {
    await realClock().sleep(ms, done.signal);
    throw new Error([`the ${name} did not stop within ${ms} ms:`, ...describe()].join("\n  "));
  };
  const late = tooLate();
  // Its end by `done` is no failure.
  late.catch(() => {});
  try {
    await Promise.race([work(), late]);
  } finally {
    done.abort();
  }
}

function featuresOf({ featureGates }: ClusterOptions): Features | undefined {
  return featureGates === undefined ? undefined : readFeatures({ gates: featureGates });
}

function nodesOf(nodes: number | NodesConfig): NodesConfig | undefined {
  if (typeof nodes !== "number") return nodes;
  return nodes === 0 ? undefined : { count: nodes };
}
