/**
 * What goes wrong in a run, and when: drawn from the seed before it begins.
 *
 * 1. Faults are numbered. Without some of them the others stay what they are, so that a failure can be reduced to those
 *    that it needs.
 * 2. All of them end: a cluster has to recover from them.
 */
import { type Random, seededRandom } from "#base";
import type { ComponentName } from "../faults/faults.ts";
import type { Death } from "../faults/faulty-handle.ts";
import { seedFor } from "./decisions.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

export interface PlannedFault {
  readonly number: number;
  readonly atMs: number;
  /** `from 12.3 s for 5 s the watches of kube-scheduler are up to 3 s late`. */
  readonly words: string;
  /** Nothing is lost, nobody dies, no clock jumps. */
  readonly isGentle: boolean;
  /** How long it lasts; 0: it is over at once. */
  readonly forMs: number;
  /** Returns what ends it. */
  begin(cluster: SimulatedCluster): (() => void) | undefined;
}

interface Drawn {
  readonly words: string;
  readonly isGentle?: boolean;
  readonly forMs?: number;
  readonly begin: PlannedFault["begin"];
}

export interface FaultyParts {
  readonly nodes: readonly string[];
  readonly components: readonly ComponentName[];
  /** Other actors that may be separated from the API server. */
  readonly actors: readonly string[];
}

const MOST = 6;
const RESOURCES = [
  "pods",
  "apps/replicasets",
  "apps/deployments",
  "nodes",
  "endpoints",
  "batch/jobs",
  "resourcequotas",
];
const STATUSES = [409, 429, 500, 503, 504];

/** The faults of a run within its first `windowMs`. */
export function planFaults(seed: number, windowMs: number, parts: FaultyParts): readonly PlannedFault[] {
  const random = seededRandom(seedFor(seed, "plan"));
  const count = random.integer(MOST + 1);
  const mild = random.next() < 0.35;
  const kinds = mild ? MILD : [...MILD, ...HARD];
  return Array.from({ length: count }, (_, index) => {
    const atMs = random.integer(windowMs);
    const { words, isGentle = false, forMs = 0, begin } = random.pick(kinds)(random, parts);
    const lasts = forMs > 0 ? ` for ${forMs / 1000} s` : "";
    return { number: index + 1, atMs, words: `at ${atMs / 1000} s${lasts}: ${words}`, isGentle, forMs, begin };
  });
}

type Draw = (random: Random, parts: FaultyParts) => Drawn;

const late: Draw = (random, { components }) => {
  const of = random.pick(components);
  const resource = random.next() < 0.7 ? random.pick(RESOURCES) : undefined;
  const ms = 500 * (1 + random.integer(20));
  return {
    words: `watches of ${of}${resource === undefined ? "" : ` on ${resource}`} are up to ${ms / 1000} s late`,
    isGentle: true,
    forMs: between(random, 2_000, 40_000),
    begin: ({ network }) => network.delay({ of, resource, ms }),
  };
};

const close: Draw = (random, { components }) => {
  const of = random.pick(components);
  return {
    words: `the watches of ${of} break off`,
    isGentle: true,
    begin: ({ faults }) => void faults.closeWatches(of),
  };
};

const expire: Draw = (random, { components }) => {
  const of = random.pick(components);
  return {
    words: `the watches of ${of} break off, and their revisions are too old (410)`,
    isGentle: true,
    begin: ({ faults }) => void faults.expireWatches(of),
  };
};

const slowStore: Draw = (random) => {
  const ms = random.pick([20, 100, 400]);
  return {
    words: `the store takes up to ${ms} ms before and after each write`,
    isGentle: true,
    forMs: between(random, 5_000, 40_000),
    begin: (cluster) => {
      cluster.storeMs = ms;
      return () => {
        cluster.storeMs = 0;
      };
    },
  };
};

const refuse: Draw = (random, { components }) => {
  const of = random.pick(components);
  const status = random.pick(STATUSES);
  const times = 1 + random.integer(6);
  return {
    words: `${times} requests of ${of} are answered with ${status}, and not carried out`,
    begin: ({ faults }) => void faults.refuse(status, { of, times, chance: 0.5 }),
  };
};

const lose: Draw = (random, { components }) => {
  const of = random.pick(components);
  const times = 1 + random.integer(3);
  const method = random.pick(["POST", "PUT", "PATCH", "DELETE"]);
  return {
    words: `the answers to ${times} ${method} of ${of} are lost`,
    begin: ({ faults }) => void faults.loseAnswers({ of, times, method }),
  };
};

const kill: Draw = (random, { components }) => {
  const of = random.pick(components);
  const after = random.integer(12);
  const death = random.pick<Death>(["before it reaches the server", "before it is answered"]);
  return {
    words: `${of} dies at its write ${after + 1}, ${death}`,
    begin: ({ faults }) => void faults.kill(of, { after, death }),
  };
};

const separate: Draw = (random, { components, nodes, actors }) => {
  const whom = random.pick([...components, ...nodes, ...nodes, ...actors, ...actors]);
  const how = random.pick(["refused", "silent"] as const);
  return {
    words: `${whom} cannot reach the API server (${how})`,
    forMs: between(random, 2_000, 60_000),
    begin: ({ network }) => {
      network.separate(whom, how);
      return () => network.reconnect(whom);
    },
  };
};

const stop: Draw = (random, { nodes }) => {
  const node = random.pick(nodes);
  return {
    words: `${node} is down`,
    forMs: between(random, 5_000, 90_000),
    begin: ({ components }) => {
      components?.fleet?.stopNode(node);
      return () => void components?.fleet?.startNode(node);
    },
  };
};

const jump: Draw = (random) => {
  const ms = (random.next() < 0.5 ? -1 : 1) * between(random, 1_000, 60_000);
  return { words: `the clock jumps by ${ms / 1000} s`, begin: ({ clock }) => void clock.jump(ms) };
};

/** Nothing is lost and nobody dies. */
const MILD: readonly Draw[] = [late, late, late, close, expire, slowStore];
const HARD: readonly Draw[] = [refuse, refuse, lose, lose, kill, kill, separate, separate, stop, jump];

function between(random: Random, low: number, high: number): number {
  return low + 100 * random.integer((high - low) / 100);
}
