/**
 * What the TypeScript kit does by method calls, for every other language: requests to the API server of a cluster that
 * was started for tests.
 *
 *     POST /k8ts/fork    ──► a cluster with everything that this one has, on a port of its own
 *     POST /k8ts/clock   ──► time flows or stands still, advances, jumps
 *     POST /k8ts/faults  ──► what goes wrong from now on, by name and by seed
 *
 * 1. Who may ask is decided by authorization: administrators of the cluster.
 * 2. They have no deadline, as it would be a moment of the time that they move.
 * 3. Unknown fields are refused: a test must not believe in what does nothing.
 */
import { badRequest, durationMs, formatTime, instantOf, StatusError, serverResponse } from "#api";
import type { Clock } from "#base";
import type { ApiServerOptions } from "../../apiserver/server-options.ts";
import type { TestCluster } from "../cluster/cluster.ts";
import type { Control } from "../cluster/running.ts";
import { type SetFault, setFault } from "./fault-names.ts";
import { bodyOf } from "./fields.ts";
import { FlowingTime } from "./flowing-time.ts";

type Answers = NonNullable<ApiServerOptions["others"]>;
type Request = Parameters<Answers[string]>[0];

export const FORK_PATH = "/k8ts/fork";
export const CLOCK_PATH = "/k8ts/clock";
export const FAULTS_PATH = "/k8ts/faults";

export interface ControlOptions {
  readonly real: Clock;
  /** Whether time flows at first. A fork goes on as its parent. */
  readonly flows: boolean;
  /** Called when the port of the first cluster is open. */
  readonly opened?: ((cluster: TestCluster) => void) | undefined;
  /** Errors of what happens in the background. */
  readonly failed: (error: unknown) => void;
}

/** The control of one cluster, and of its forks. */
export class ClusterControl implements Control {
  readonly others: Answers;
  readonly #options: ControlOptions;
  readonly #forks = new Map<string, TestCluster>();
  readonly #ending = new AbortController();
  #flowing: Promise<void> | undefined;
  readonly #attached = Promise.withResolvers<{ readonly cluster: TestCluster; readonly time: FlowingTime }>();
  #flows: boolean;
  #forksMade = 0;
  #faultsSet: SetFault[] = [];
  #seed: number | undefined;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#flows = options.flows;
    this.others = {
      [FORK_PATH]: (request) => this.#fork(request),
      [CLOCK_PATH]: (request) => this.#clock(request),
      [FAULTS_PATH]: (request) => this.#faults(request),
    };
  }

  opened(cluster: TestCluster): void {
    this.#options.opened?.(cluster);
  }

  /** Time flows from now on. */
  attach(cluster: TestCluster): void {
    const time = new FlowingTime(cluster.clock, this.#options.real, () => this.#flows);
    this.#attached.resolve({ cluster, time });
    this.#flowing = time.run(this.#ending.signal).catch(this.#options.failed);
  }

  forFork(): ClusterControl {
    return new ClusterControl({ ...this.#options, flows: this.#flows, opened: undefined });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    if (this.#flowing === undefined) return;
    await this.#flowing;
    // A request that moves time may be under way.
    const { time } = await this.#attached.promise;
    await time.alone(async () => {});
  }

  async #fork(request: Request) {
    const { cluster, time } = await this.#attached.promise;
    const { method, query } = request;
    if (method === "GET") return json(200, { forks: [...this.#forks].map(([name, fork]) => placeOf(name, fork)) });
    if (method === "DELETE") {
      const name = query.get("name") ?? "";
      const fork = this.#forks.get(name);
      if (fork === undefined) throw new StatusError("NotFound", `there is no fork "${name}"`);
      this.#forks.delete(name);
      await fork.stop();
      return json(200, { name });
    }
    if (method !== "POST") throw serverResponse(405);
    await bodyOf(request, {});
    const fork = await time.alone(() => cluster.fork({ port: 0 }));
    const name = `fork-${++this.#forksMade}`;
    this.#forks.set(name, fork);
    return json(201, placeOf(name, fork));
  }

  async #clock(request: Request) {
    const { cluster, time } = await this.#attached.promise;
    const { method } = request;
    if (method === "POST") {
      const body = await bodyOf(request, {
        flows: "boolean",
        advance: "duration",
        jump: "duration",
        settle: "boolean",
      });
      const { flows, advance, jump, settle } = body as Moves;
      const [advanceMs, jumpMs] = [millisecondsOf("advance", advance), millisecondsOf("jump", jump)];
      if (advanceMs < 0) throw badRequest("time does not go back: jump sets the wall clock alone");
      const moved = await time.alone(async () => {
        this.#flows = flows ?? this.#flows;
        if (jumpMs !== 0) cluster.clock.jump(jumpMs);
        if (advance !== undefined) await cluster.clock.advance(advanceMs);
        else if (settle === true) await cluster.settle();
        return this.#now(cluster);
      });
      return json(200, moved);
    }
    if (method !== "GET") throw serverResponse(405);
    return json(200, this.#now(cluster));
  }

  #now(cluster: TestCluster) {
    const { nextDueMs } = cluster.clock;
    const nowMs = cluster.clock.now();
    const due = nextDueMs === undefined ? {} : { nextDueMs };
    return { now: formatTime(instantOf(nowMs)), nowMs, flows: this.#flows, ...due };
  }

  async #faults(request: Request) {
    const { faults } = (await this.#attached.promise).cluster;
    const { method } = request;
    if (method === "POST") {
      const body = await bodyOf(request, { seed: "number", faults: "list" });
      const { seed, faults: given = [] } = body as { readonly seed?: number; readonly faults?: readonly unknown[] };
      if (seed !== undefined) {
        faults.reseed(seed);
        this.#seed = seed;
      }
      for (const each of given) {
        if (typeof each !== "object" || each === null || typeof (each as SetFault).name !== "string")
          throw badRequest("each of the faults is an object with a name");
        setFault(faults, each as SetFault);
        this.#faultsSet.push(each as SetFault);
      }
    } else if (method === "DELETE") {
      faults.clear();
      this.#faultsSet = [];
    } else if (method !== "GET") throw serverResponse(405);
    return json(200, { ...(this.#seed !== undefined && { seed: this.#seed }), faults: this.#faultsSet });
  }
}

interface Moves {
  readonly flows?: boolean;
  readonly advance?: string | number;
  readonly jump?: string | number;
  readonly settle?: boolean;
}

function millisecondsOf(name: string, duration: string | number | undefined): number {
  if (duration === undefined || typeof duration === "number") return duration ?? 0;
  const isBack = duration.startsWith("-");
  try {
    const ms = durationMs(isBack ? duration.slice(1) : duration);
    return isBack ? -ms : ms;
  } catch {
    throw badRequest(`${name} is a number of milliseconds, or a duration such as 90s or 24h, not "${duration}"`);
  }
}

function placeOf(name: string, fork: TestCluster) {
  return { name, ...fork.connection };
}

const JSON_BODY = { "content-type": "application/json" };

function json(status: number, value: object) {
  return { status, headers: JSON_BODY, body: [Buffer.from(JSON.stringify(value))] };
}
