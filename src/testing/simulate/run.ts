/**
 * One run: a scenario, a seed, and what goes wrong.
 *
 *     the user plays, faults begin and end ──► all faults are over ──► at rest: nothing is missing ──► nothing is written
 *
 * 1. The same run gives the same flow, byte by byte.
 * 2. It ends with the first invariant that is broken.
 */
import { seededRandom } from "#base";
import type { FlowRecord } from "#flows";
import type { Bug } from "./bugs/bug.ts";
import { Decisions, seedFor } from "./decisions.ts";
import { type PlannedFault, planFaults } from "./fault-plan.ts";
import type { Commit, History } from "./history.ts";
import { disturbance, invariants } from "./invariants/index.ts";
import type { Broken, Checks, Watched } from "./invariants/invariant.ts";
import type { Prepared } from "./prepared.ts";
import type { Scenario, Stage } from "./scenario.ts";
import { SimulatedCluster } from "./simulated-cluster.ts";
import { World } from "./world.ts";

/** Faults begin within this time. */
const WINDOW_MS = 90_000;
/** How long nothing but signs of life may be written before the cluster is asked whether it is at rest. */
const STILL_MS = 20_000;
/** The time after the last fault until what it has led to is known to all: a node's grace period, for example. */
const AFTERMATH_MS = 60_000;
/** Longer than any back-off. */
const CONVERGES_WITHIN_MS = 30 * 60_000;
/** Longer than what controllers do from time to time, such as counting quotas. */
const QUIET_MS = 6 * 60_000;
/** Once in so many seeds it is looked for longer. */
const LONG_EVERY = 50;
const LONG_QUIET_MS = 3_600_000;
const ASK_AGAIN_MS = 30_000;
/** Of one millisecond: more means that time does not move any more. */
const MOST_STEPS_AT_ONCE = 10_000;
/** A run has a few thousands. */
const MOST_STEPS = 25_000;

export interface RunOptions {
  readonly scenario: Scenario;
  readonly seed: number;
  /** The cluster with which it begins. */
  readonly prepared: Prepared;
  readonly bug?: Bug | undefined;
  /** Numbers of faults. Default: all that the seed has. */
  readonly onlyFaults?: readonly number[] | undefined;
  /** How many decisions about order and delays follow from the seed; the rest is as plain as possible. Default: all. */
  readonly decisions?: number | undefined;
  /** How long it has to be quiet at the end. */
  readonly quietMs?: number | undefined;
}

export interface Violation extends Broken {
  readonly invariant: string;
  readonly atMs: number;
}

export interface Outcome {
  readonly seed: number;
  /** Undefined: all invariants hold. */
  readonly violation: Violation | undefined;
  readonly faults: readonly PlannedFault[];
  readonly decisions: number;
  /** Of the flow. */
  readonly hash: string;
  /** Of everything that was written. */
  readonly contents: string;
  readonly history: History;
  readonly records: readonly FlowRecord[];
}

export async function run(options: RunOptions): Promise<Outcome> {
  const { scenario, seed, prepared, bug, onlyFaults } = options;
  const decisions = new Decisions(seedFor(seed, "decisions"), options.decisions);
  const latency = seededRandom(seedFor(seed, "latency")).pick(LATENCIES);
  const meddling = bug?.plant(seededRandom(seedFor(seed, bug.name)));
  const cluster = await SimulatedCluster.open({ ...scenario.parts, seed, decisions, latency, prepared, meddling });
  const components = ["kube-controller-manager", "kube-scheduler", "kubelet"] as const;
  const operator = scenario.parts.operators === undefined ? [] : (["operator"] as const);
  const { actors = [] } = scenario;
  const planned = planFaults(seed, WINDOW_MS, {
    nodes: cluster.nodes,
    components: [...components, ...operator, ...operator],
    actors,
  });
  const faults = planned.filter(({ number }) => onlyFaults?.includes(number) ?? true);
  const running = new Run(cluster, options, faults);
  try {
    const violation = await running.toItsEnd();
    const { history, server } = cluster;
    const { hash, contents } = history;
    const records = server.recorder.records();
    return { seed, violation, faults, decisions: decisions.made, hash, contents, history, records };
  } finally {
    running.end();
    await cluster.stop();
  }
}

/** Fast, usual, slow. */
const LATENCIES = [
  { usualMs: 0, someMs: 2, fewMs: 10 },
  { usualMs: 2, someMs: 30, fewMs: 300 },
  { usualMs: 2, someMs: 30, fewMs: 300 },
  { usualMs: 10, someMs: 400, fewMs: 3_000 },
] as const;

class Run {
  readonly #cluster: SimulatedCluster;
  readonly #options: RunOptions;
  readonly #checks: readonly { readonly name: string; readonly checks: Checks }[];
  readonly #faults: readonly PlannedFault[];
  readonly #ending = new AbortController();
  readonly #leaders = new Map<string, Set<string>>();
  readonly #background: Promise<unknown>[] = [];
  #violation: Violation | undefined;
  #steps = 0;
  /** Faults that have not ended, and the user as long as he plays. */
  #unfinished = 0;
  /** The last write that was more than a sign of life. */
  #disturbed: { readonly atMs: number; readonly broken: Broken | undefined } = { atMs: 0, broken: undefined };

  constructor(cluster: SimulatedCluster, options: RunOptions, faults: readonly PlannedFault[]) {
    this.#cluster = cluster;
    this.#options = options;
    this.#faults = faults;
    const watched: Watched = {
      cluster,
      history: cluster.history,
      world: new World(cluster.objects),
      isGentle: faults.every(({ isGentle }) => isGentle) && options.scenario.isGentle !== false,
      leaders: this.#leaders,
    };
    this.#checks = invariants.map((each) => ({ name: each.name, checks: each.begin(watched) }));
    const { history } = cluster;
    history.onCommit = (commit) => this.#committed(commit);
    history.onAnswer = (call) => {
      for (const { name, checks } of this.#checks) this.#judge(name, checks.answered?.(call));
    };
  }

  async toItsEnd(): Promise<Violation | undefined> {
    const { clock } = this.#cluster;
    this.#cluster.start();
    for (const fault of this.#faults) this.#schedule(fault);
    this.#play();
    await clock.settle();
    // What the user does and what goes wrong.
    await this.#go(Number.POSITIVE_INFINITY, () => this.#unfinished === 0);
    this.#cluster.faults.clear();
    if (this.#violation !== undefined) return this.#violation;
    this.#cluster.history.note("nothing goes wrong any more");
    await this.#comeToRest();
    if (this.#violation !== undefined) return this.#violation;
    // What goes on in the background has been seen for long enough.
    this.#ending.abort();
    await this.#stayAtRest();
    for (const { name, checks } of this.#checks) this.#judge(name, checks.missing?.() ?? checks.end?.());
    return this.#violation;
  }

  end(): void {
    const { history } = this.#cluster;
    history.onCommit = undefined;
    history.onAnswer = undefined;
    this.#ending.abort();
  }

  async #comeToRest(): Promise<void> {
    const { clock } = this.#cluster;
    const sinceMs = clock.monotonic();
    const limitMs = sinceMs + CONVERGES_WITHIN_MS;
    let askedMs = sinceMs + AFTERMATH_MS - ASK_AGAIN_MS;
    let missing: readonly [string, Broken] | undefined;
    const isStill = () => {
      const now = clock.monotonic();
      if (now - this.#disturbed.atMs < STILL_MS || now - askedMs < ASK_AGAIN_MS) return false;
      askedMs = now;
      missing = this.#missing();
      return missing === undefined;
    };
    if (await this.#go(limitMs, isStill)) return;
    missing = this.#missing();
    if (missing !== undefined) this.#judge(...missing);
    else this.#judge("quiet", this.#disturbed.broken);
  }

  async #stayAtRest(): Promise<void> {
    const { clock, history } = this.#cluster;
    const { seed, quietMs = seed % LONG_EVERY === 0 ? LONG_QUIET_MS : QUIET_MS } = this.#options;
    const since = clock.monotonic();
    history.note("at rest");
    await this.#go(since + quietMs, () => {
      if (this.#disturbed.atMs > since) this.#judge("quiet", this.#disturbed.broken);
      return false;
    });
  }

  #missing(): readonly [string, Broken] | undefined {
    const { scenario } = this.#options;
    for (const { name, checks } of this.#checks) {
      const broken = checks.missing?.();
      if (broken !== undefined) return [name, broken];
    }
    const says = scenario.missing?.({ cluster: this.#cluster });
    return says === undefined ? undefined : [scenario.name, { says }];
  }

  /** Lets things happen until it is over (true) or the time is up. */
  async #go(untilMs: number, isOver: () => boolean): Promise<boolean> {
    const { clock } = this.#cluster;
    let atMs = clock.monotonic();
    let steps = 0;
    while (this.#violation === undefined && !isOver()) {
      if (!(await clock.step(Math.min(untilMs, clock.monotonic() + 3_600_000)))) return false;
      steps = clock.monotonic() === atMs ? steps + 1 : 0;
      atMs = clock.monotonic();
      if (steps > MOST_STEPS_AT_ONCE || ++this.#steps > MOST_STEPS)
        this.#judge("busy", { says: "something happens again and again at once" });
      for (const { name, checks } of this.#checks) this.#judge(name, checks.always?.());
    }
    return true;
  }

  #play(): void {
    const { scenario, seed } = this.#options;
    const { clock } = this.#cluster;
    const { signal } = this.#ending;
    const random = seededRandom(seedFor(seed, "user"));
    const stage: Stage = {
      ...{ clock, random, signal },
      cluster: this.#cluster,
      client: this.#cluster.client(),
      sleep: (ms) => clock.sleep(ms, signal),
      pause: (mostMs) => clock.sleep(random.integer(mostMs), signal),
      background: (work) => void this.#background.push(this.#attempt(work)),
      leads: (lease, who, isLeading) => this.#leads(lease, who, isLeading),
    };
    this.#unfinished += 1;
    void this.#attempt(() => scenario.play(stage)).then(() => {
      this.#unfinished -= 1;
      this.#cluster.history.note("the user has done everything");
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#judge("scenario", { says: String(error) });
    }
  }

  #leads(lease: string, who: string, isLeading: boolean): void {
    const leading = this.#leaders.get(lease) ?? new Set();
    this.#leaders.set(lease, leading);
    if (isLeading) leading.add(who);
    else leading.delete(who);
    this.#cluster.history.note(`${who} ${isLeading ? "leads" : "no longer leads"} by ${lease}`);
  }

  #schedule(fault: PlannedFault): void {
    const { clock, history } = this.#cluster;
    this.#unfinished += 1;
    clock.timer(fault.atMs, () => {
      history.note(`fault ${fault.number}: ${fault.words}`);
      const end = fault.begin(this.#cluster);
      clock.timer(fault.forMs, () => {
        end?.();
        if (fault.forMs > 0) history.note(`fault ${fault.number} is over`);
        this.#unfinished -= 1;
      });
    });
  }

  #committed(commit: Commit): void {
    const broken = disturbance(commit);
    if (broken !== undefined) this.#disturbed = { atMs: commit.atMs, broken };
    for (const { name, checks } of this.#checks) this.#judge(name, checks.committed?.(commit));
  }

  #judge(invariant: string, broken: Broken | undefined): void {
    if (broken === undefined || this.#violation !== undefined) return;
    this.#violation = { invariant, ...broken, atMs: this.#cluster.clock.monotonic() };
    this.#cluster.history.note(`${invariant}: ${broken.says}`);
  }
}
