/**
 * Gangs of 1,000 Pods that want the same 500 nodes, with single Pods and nodes that come and go between them: after
 * every round each gang has all of its Pods placed, or none.
 *
 * 1. `K8TS_GANG_SEEDS=20` runs as many in this size; without it the later seeds are smaller.
 */
import { describe, expect, it } from "vitest";
import { type core, kinds, optional } from "#api";
import { seededRandom } from "#base";
import { node, pod } from "./testing/index.ts";
import { type TestScheduler, testScheduler } from "./testing/test-scheduler.ts";

const SEEDS = Number(process.env.K8TS_GANG_SEEDS ?? "3");
const WHOLE = { nodes: 500, size: 1000 };
const SMALL = { nodes: 100, size: 200 };
const GATES = ["GenericWorkload", "GangScheduling"];

describe("gangs of 1,000 Pods on 500 nodes", { timeout: 600_000 }, () => {
  it.each(Array.from({ length: SEEDS }, (_, seed) => seed))("are placed whole or not at all, seed %i", async (seed) => {
    const { nodes, size } = seed === 0 || process.env.K8TS_GANG_SEEDS !== undefined ? WHOLE : SMALL;
    const running = await testScheduler({ gates: GATES, seed });
    try {
      const random = seededRandom(seed);
      for (let at = 0; at < nodes; at++) await running.addNode(node(`n${at}`, { allocatable: { cpu: "2" } }));
      const noise = 20 + random.integer(60);
      const late = random.integer(size);
      for (let at = 0; at < size; at++) {
        for (const gang of ["g", "h"]) if (gang === "g" || at !== late) await running.addPod(member(gang, at));
        if (at % Math.ceil(size / noise) === 0) await running.addPod(pod(`noise${at}`, { requests: { cpu: "1" } }));
        // Either group comes while Pods still do.
        if (at === random.integer(size)) await running.settle();
      }
      for (const gang of random.next() < 0.5 ? ["g", "h"] : ["h", "g"]) await addGroup(running, gang, size);
      await running.addPod(member("h", late));
      await calm(running);
      // Neither fits beside the single Pods.
      expect(await sizes(running)).toEqual({ g: 0, h: 0 });
      await deleteAll(running, (name) => name.startsWith("noise"));
      await calm(running);
      const first = await sizes(running);
      expect([first.g, first.h].sort(), `seed ${seed}`).toEqual([0, size]);
      const winner = first.g === size ? "g" : "h";
      const some = new Set(Array.from({ length: 30 }, () => `${winner}${random.integer(size)}`));
      await deleteAll(running, (name) => some.has(name));
      await calm(running);
      // The room of a few is not enough for the other one.
      expect(await sizes(running)).toEqual({ ...first, [winner]: size - some.size });
      await deleteAll(running, (name) => name.startsWith(winner));
      await calm(running);
      expect(await sizes(running)).toEqual({ g: winner === "g" ? 0 : size, h: winner === "h" ? 0 : size });
    } finally {
      await running.close();
    }
  });
});

function member(gang: string, at: number): core.Pod {
  return pod(`${gang}${at}`, { requests: { cpu: "1" }, spec: { schedulingGroup: { podGroupName: gang } } });
}

async function addGroup({ client }: TestScheduler, name: string, minCount: number): Promise<void> {
  const spec = { schedulingPolicy: { gang: { minCount } } };
  await client.of(optional.PodGroup).in("default").create({ metadata: { name }, spec });
}

async function deleteAll({ client }: TestScheduler, which: (name: string) => boolean): Promise<void> {
  const pods = client.of(kinds.Pod).in("default");
  const names = (await pods.list()).items.map(({ metadata }) => metadata.name ?? "").filter(which);
  await Promise.all(names.map((name) => pods.delete(name, { gracePeriodSeconds: 0 })));
}

/** Backoffs end, and everybody who may fit has been tried. */
async function calm({ clock, settle }: TestScheduler): Promise<void> {
  await settle();
  await clock.advance(15_000);
  await settle();
}

/** Placed Pods by gang. */
async function sizes(running: TestScheduler): Promise<{ readonly g: number; readonly h: number }> {
  const placed = Object.entries(await running.places()).flatMap(([name, place]) => (place === undefined ? [] : [name]));
  const of = (gang: string) => placed.filter((name) => name.startsWith(gang)).length;
  return { g: of("g"), h: of("h") };
}
