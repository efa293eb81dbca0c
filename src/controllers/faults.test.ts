/**
 * Most controllers together, on a scenario that is disturbed: they are killed at each of their writes, their watches
 * cannot be relied on, their writes are refused by chance. Whatever happens, the cluster ends as it ends undisturbed:
 * nothing is made twice, nothing is left over.
 */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { StatusError } from "#api";
import { seededRandom } from "#base";
import { admissionChain, clusterView } from "../apiserver/admission/index.ts";
import { namespaceLifecycle } from "../apiserver/admission/plugins/namespaces/namespace-lifecycle.ts";
import type { TestServer } from "../apiserver/testing/index.ts";
import { type Death, faultyWatches, isWork, Mortal, type Request } from "../testing/faults/faulty-handle.ts";
import { cronJobController } from "./cronjob/index.ts";
import { daemonSetController } from "./daemon-set/index.ts";
import { deploymentController } from "./deployment/index.ts";
import { disruptionController } from "./disruption/index.ts";
import { endpointSliceController } from "./endpoint-slice/index.ts";
import { endpointsController } from "./endpoints/index.ts";
import { garbageCollector } from "./garbage-collector/index.ts";
import { jobController } from "./job/index.ts";
import { namespaceController } from "./namespace/index.ts";
import { replicaSetController } from "./replica-set/index.ts";
import { serviceAccountController } from "./service-account/index.ts";
import { statefulSetController } from "./stateful-set/index.ts";
import { endState } from "./testing/end-state.ts";
import { type TestControllers, testControllers } from "./testing/index.ts";
import { calmDown, playScenario } from "./testing/scenario.ts";

const controllers = [
  namespaceController,
  serviceAccountController,
  deploymentController,
  replicaSetController,
  statefulSetController,
  daemonSetController,
  jobController,
  cronJobController,
  endpointsController,
  endpointSliceController,
  disruptionController,
  garbageCollector,
];

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Disturbance {
  readonly seed?: number;
  /** Says of each write whether its controllers die of it; others of their kind go on. */
  readonly kills?: (write: Request) => Promise<boolean>;
  readonly death?: Death;
  readonly watches?: boolean;
  /** How likely a write is to be refused. */
  readonly refusals?: number;
}

interface Outcome {
  readonly state: readonly string[];
  /** Pods that were ever made, by the prefix of their names. */
  readonly made: ReadonlyMap<string, number>;
  readonly writes: number;
  readonly deaths: number;
}

/** How often it is looked whether somebody has died. */
const TURN_MS = 4_000;
/** Longer than any backoff lasts. */
const CALM_MS = 1_200_000;
/** Pods whose owners are deleted in the course of the scenario. */
const DOOMED = /^(gone|inside|db)-/;
const REASONS = ["Conflict", "TooManyRequests", "InternalError", "ServiceUnavailable", "Timeout"] as const;

async function run(disturbance: Disturbance = {}): Promise<Outcome> {
  const { seed = 1, kills = async () => false, death = "before it is answered" } = disturbance;
  let begun = false;
  const base = await testControllers([], {
    seed,
    // Nothing is made in a namespace that ends: controllers rely on that. Roles come before their namespaces.
    admission: ({ resources, storage }) => {
      const { mutate, validate } = admissionChain([namespaceLifecycle], clusterView(resources, storage));
      return { mutate: (attributes) => (begun ? mutate(attributes) : undefined), validate };
    },
  });
  begun = true;
  open.push(() => base.close());
  const { server, client, clock } = base;
  const pods = await server.watch("/api/v1/pods?watch=true");
  open.push(() => pods.close());
  const random = seededRandom(seed);
  let disturbed = true;
  const meddled =
    disturbance.watches === true
      ? faultyWatches(server.handle, { clock, random, breaks: 0.05, repeats: 0.1, lateMs: 3_000 })
      : server.handle;
  let writes = 0;
  let deaths = 0;
  const begin = async () => {
    const mortal = new Mortal(meddled, async (write) => ((await kills(write)) ? death : undefined));
    const set: TestControllers = await testControllers(controllers, {
      server: { ...server, handle: mortal.handle } as TestServer,
      seed,
    });
    set.refuse(({ method }) =>
      disturbed && method !== "GET" && random.next() < (disturbance.refusals ?? 0)
        ? new StatusError(random.pick(REASONS), "by chance")
        : undefined,
    );
    return { mortal, set };
  };
  let running = await begin();
  const end = async () => {
    writes += running.set.requests().filter(isWork).length;
    await running.set.close();
  };
  open.push(end);
  const world = {
    client,
    now: () => clock.now(),
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= TURN_MS) {
        await clock.advance(Math.min(left, TURN_MS));
        while (running.mortal.dead) {
          running.mortal.bury();
          await end();
          deaths += 1;
          running = await begin();
        }
      }
    },
  };
  await playScenario(world);
  disturbed = false;
  await calmDown(world, CALM_MS);
  const made = new Map<string, number>();
  for (const { type, object } of pods.events) {
    if (type !== "ADDED") continue;
    const { generateName, name = "" } = object.metadata;
    made.set(generateName ?? name, (made.get(generateName ?? name) ?? 0) + 1);
  }
  return { state: await endState(server), made, writes: writes + running.set.requests().filter(isWork).length, deaths };
}

describe("controllers that are disturbed", () => {
  let calm: Outcome;
  beforeAll(async () => {
    calm = await run();
    for (const close of open.splice(0).reverse()) await close();
  });

  const endsAsUndisturbed = async (disturbance: Disturbance) => {
    const { state, made, deaths } = await run(disturbance);
    expect(difference(calm.state, state)).toEqual([]);
    for (const [prefix, count] of made) {
      // Where the end of an owner is seen late, what it has lost may be made once more, and goes with it.
      const most = (calm.made.get(prefix) ?? 0) * (disturbance.watches === true && DOOMED.test(prefix) ? 2 : 1);
      expect(count, prefix).toBeLessThanOrEqual(most);
    }
    return deaths;
  };

  it("undisturbed, the scenario leaves behind what it should, and no more", () => {
    const named = calm.state.filter((line) => line.includes(".metadata.name = "));
    expect(named.map((line) => line.slice(0, line.indexOf(" "))).join(" ")).toBe(
      "ControllerRevision CronJob Deployment EndpointSlice Endpoints Job Job Namespace Node Node " +
        "Pod Pod Pod Pod Pod Pod Pod Pod ReplicaSet ReplicaSet Service ServiceAccount",
    );
    const endpoints = calm.state.filter((line) => /^EndpointSlice .*endpoints\.\d+\.conditions\.ready/.test(line));
    expect(endpoints.map((line) => line.split(" = ")[1])).toEqual(["true", "true"]);
    expect(Object.fromEntries(calm.made)).toMatchObject({ "import-": 3, "agent-": 2, "db-": 4 });
  });

  it.each<Death>(["before it is answered", "before it reaches the server"])(
    "killed at every write, %s",
    async (death) => {
      const deaths = await endsAsUndisturbed({ kills: eachOnce(), death });
      // Several are under way at once, and some are the same: of those one is enough.
      expect(deaths).toBeGreaterThan(calm.writes / 3);
    },
  );

  it.each(
    Array.from({ length: 12 }, (_, i) => ({
      n: 1 + i * 17,
      death: i % 2 === 0 ? ("before it is answered" as const) : ("before it reaches the server" as const),
    })),
  )("killed once, at write $n, $death", async ({ n, death }) => {
    let writes = 0;
    expect(await endsAsUndisturbed({ kills: async () => ++writes === n, death })).toBe(1);
  });

  it.each([1, 2, 3, 4])("watches that break off, are late, repeat themselves and disagree (seed %i)", async (seed) => {
    await endsAsUndisturbed({ seed, watches: true });
  });

  it.each([1, 2, 3, 4])("writes that are refused with 409, 429, 500, 503 and 504 (seed %i)", async (seed) => {
    await endsAsUndisturbed({ seed, refusals: 0.3 });
  });

  it.each([1, 2, 3, 4])("all of it at once (seed %i)", async (seed) => {
    const random = seededRandom(seed);
    const kills = async () => random.next() < 0.02;
    const deaths = await endsAsUndisturbed({ seed, kills, watches: true, refusals: 0.1 });
    expect(deaths).toBeGreaterThan(0);
  });
});

/** `-`: it should be there and is not; `+`: the other way round. */
function difference(wanted: readonly string[], found: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of wanted) counts.set(line, (counts.get(line) ?? 0) - 1);
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].flatMap(([line, count]) => (count === 0 ? [] : [`${count < 0 ? "-" : "+"} ${line}`]));
}

/** Every write once, so that those who come after get further. */
function eachOnce(): (write: Request) => Promise<boolean> {
  const killed = new Set<string>();
  return async (write) => {
    const body = (await write.body(Number.MAX_SAFE_INTEGER)).toString();
    const key = `${write.method} ${write.path} ${body}`;
    if (killed.has(key)) return false;
    killed.add(key);
    return true;
  };
}
