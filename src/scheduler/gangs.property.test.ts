/**
 * Random gangs, Pods and nodes against a plain count: a gang has at least its minimum of Pods placed, or none; one that
 * has none fits nowhere as a whole; and no node has more than it can take.
 */
import { describe, expect, it } from "vitest";
import { type core, kinds, optional, StatusError } from "#api";
import { type Random, seededRandom } from "#base";
import { node, pod } from "./testing/index.ts";
import { type TestScheduler, testScheduler } from "./testing/test-scheduler.ts";

const RUNS = 20;
const STEPS = 12;
const GATES = ["GenericWorkload", "GangScheduling"];

interface Gang {
  readonly name: string;
  readonly min: number;
  readonly cpu: number;
}

describe("whatever happens", { timeout: 300_000 }, () => {
  it("gangs are placed whole or not at all, and wait only while they do not fit", async () => {
    const seen = { placed: 0, waiting: 0 };
    for (let seed = 0; seed < RUNS; seed++) {
      const random = seededRandom(seed);
      const running = await testScheduler({ gates: GATES, seed });
      try {
        makeTrouble(running, random);
        const gangs: Gang[] = [];
        for (let step = 0; step < STEPS; step++) await change(running, random, step, gangs);
        running.meddle(() => undefined);
        for (let at = 0; at < 4; at++) await pass(running);
        await verify(running, gangs, seed, seen);
      } finally {
        await running.close();
      }
    }
    expect([seen.placed > RUNS, seen.waiting > RUNS / 2]).toEqual([true, true]);
  });
});

/** Some bindings are refused, and some fail. */
function makeTrouble({ meddle }: TestScheduler, random: Random): void {
  meddle(({ path }) => {
    if (!path.includes("/binding") || random.next() > 0.15) return undefined;
    return random.next() < 0.5 ? new StatusError("Conflict", "modified") : new StatusError("InternalError", "no disk");
  });
}

async function change(running: TestScheduler, random: Random, step: number, gangs: Gang[]): Promise<void> {
  const { client } = running;
  const what = step < 3 ? 0 : random.integer(4);
  if (what === 0) await running.addNode(node(`n${step}`, { allocatable: { cpu: String(1 + random.integer(6)) } }));
  else if (what === 1 || what === 2) {
    const gang = { name: `g${step}`, min: 1 + random.integer(5), cpu: 1 + random.integer(2) };
    gangs.push(gang);
    const isFirst = random.next() < 0.5;
    if (isFirst) await addGroup(running, gang);
    for (let at = random.integer(3); at < gang.min + 2; at++) await running.addPod(member(gang, at));
    if (!isFirst) await addGroup(running, gang);
  } else {
    const { items } = await client.of(kinds.Pod).list();
    const victim = items[random.integer(Math.max(1, items.length))];
    // A gang that has begun may lose Pods: it is asked about no more.
    const gang = gangs.findIndex(({ name }) => name === victim?.spec?.schedulingGroup?.podGroupName);
    if (victim !== undefined && (victim.spec?.nodeName ?? "") !== "" && gang !== -1) {
      for (const each of items.filter(({ metadata }) => metadata.name?.startsWith(`${gangs[gang]?.name}-`)))
        await client
          .of(kinds.Pod)
          .in("default")
          .delete(each.metadata.name ?? "", { gracePeriodSeconds: 0 });
      gangs.splice(gang, 1);
    }
  }
  if (random.next() < 0.7) await running.settle();
}

async function addGroup({ client }: TestScheduler, { name, min }: Gang): Promise<void> {
  const spec = { schedulingPolicy: { gang: { minCount: min } } };
  await client.of(optional.PodGroup).in("default").create({ metadata: { name }, spec });
}

function member({ name, cpu }: Gang, at: number): core.Pod {
  return pod(`${name}-${at}`, { requests: { cpu: String(cpu) }, spec: { schedulingGroup: { podGroupName: name } } });
}

async function pass({ clock, settle }: TestScheduler): Promise<void> {
  await settle();
  await clock.advance(60_000);
  await settle();
}

async function verify(
  { client }: TestScheduler,
  gangs: readonly Gang[],
  seed: number,
  seen: { placed: number; waiting: number },
): Promise<void> {
  const { items: pods } = await client.of(kinds.Pod).list();
  const { items: nodes } = await client.of(kinds.Node).list();
  const free = nodes.map(({ metadata, status }) => {
    const used = pods
      .filter(({ spec }) => spec?.nodeName === metadata.name)
      .reduce((sum, { spec }) => sum + Number(spec?.containers[0]?.resources?.requests?.cpu), 0);
    return Number(status?.allocatable?.cpu) - used;
  });
  expect(Math.min(...free), `seed ${seed}`).toBeGreaterThanOrEqual(0);
  for (const { name, min, cpu } of gangs) {
    const own = pods.filter(({ spec }) => spec?.schedulingGroup?.podGroupName === name);
    const placed = own.filter(({ spec }) => (spec?.nodeName ?? "") !== "").length;
    const room = free.reduce((sum, each) => sum + Math.floor(each / cpu), 0);
    if (placed > 0) {
      expect(placed, `seed ${seed}, ${name}`).toBeGreaterThanOrEqual(min);
      seen.placed += 1;
      if (placed < own.length) expect(room, `seed ${seed}, ${name}: one more fits`).toBe(0);
    } else {
      const isComplete = own.length >= min;
      if (isComplete) expect(room, `seed ${seed}, ${name}: it fits`).toBeLessThan(min);
      seen.waiting += 1;
    }
  }
}
