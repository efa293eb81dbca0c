/** What is kept in order is what a search would find; and the search that ends early. */
import { describe, expect, it } from "vitest";
import { defaultFeatures } from "#api";
import { seededRandom } from "#base";
import { DEFAULT_PLUGINS, PLUGIN_POINTS } from "../configuration/index.ts";
import { best, Evaluator, totalOf } from "../evaluation/index.ts";
import {
  DEFAULT_ARGUMENTS,
  EXTENSION_POINTS,
  makeStages,
  type PluginContext,
  type Profile,
} from "../framework/index.ts";
import { ALL_PLUGINS } from "../plugins/index.ts";
import { ClusterState, PodInfos, ResourceNames } from "../snapshot/index.ts";
import { HeldObjects } from "../testing/held-objects.ts";
import { node, pod } from "../testing/index.ts";

const DECIDING = ["queueSort", "preFilter", "filter", "preScore", "score"];

function cluster() {
  const resources = new ResourceNames();
  const state = new ClusterState(resources);
  const informers = new HeldObjects().informers();
  const context = {
    informers,
    view: state,
    resources,
    enabled: (gate: string) => defaultFeatures.enabled(gate),
  } as unknown as PluginContext;
  const plugins = Object.fromEntries(
    EXTENSION_POINTS.map((point) => [
      point,
      DEFAULT_PLUGINS.filter(({ name }) => DECIDING.includes(point) && PLUGIN_POINTS.get(name)?.includes(point)),
    ]),
  ) as unknown as Profile["plugins"];
  const profile: Profile = { schedulerName: "default-scheduler", plugins, args: DEFAULT_ARGUMENTS };
  const evaluator = new Evaluator(makeStages(profile, ALL_PLUGINS, context), state);
  return { state, infos: new PodInfos(resources), evaluator };
}

describe("an evaluator", () => {
  it.each([1, 2, 3])(
    "picks a node with the highest total, and knows how many say what, whatever has changed (%i)",
    (seed) => {
      const random = seededRandom(seed);
      const { state, infos, evaluator } = cluster();
      const taints = [{ key: "soft", effect: "PreferNoSchedule" as const }];
      const change = (at: number) =>
        state.setNode(
          node(`n${at}`, {
            allocatable: { cpu: String(2 + random.integer(6)) },
            ...(random.next() < 0.1 && { taints }),
            ...(random.next() < 0.3 && { images: { "web:1": 50 + random.integer(900) } }),
          }),
        );
      for (let at = 0; at < 40; at++) change(at);
      const asks = ["100m", "700m", "1500m"].map((amount) => ({ requests: { cpu: amount } }));
      for (let step = 0; step < 300; step++) {
        const info = infos.of(pod(`p${step}`, random.pick(asks)));
        const filtered = evaluator.filter(info);
        const counted = [...state.nodes.keys()].filter((index) => state.nodes[index] !== undefined);
        for (const [code, count] of (filtered.counts ?? []).entries())
          expect(counted.filter((index) => filtered.codes[index] === code)).toHaveLength(count);
        if (filtered.count > 0) {
          const scored = evaluator.score(filtered);
          const index = best(scored, random);
          const totals = [...filtered.indexes.subarray(0, filtered.count)].map((each) => totalOf(scored, each));
          expect(totalOf(scored, index)).toBe(Math.max(...totals));
          expect([...filtered.indexes.subarray(0, filtered.count)]).toContain(index);
          state.assume(info, state.nodes[index]?.name ?? "");
        }
        const what = random.next();
        if (what < 0.2) state.forget(infos.of(pod(`p${random.integer(step + 1)}`)).uid);
        else if (what < 0.3) change(random.integer(45));
        else if (what < 0.35) state.removeNode(`n${random.integer(45)}`);
        else if (what < 0.4) state.nominate(infos.of(pod("vip", { spec: { priority: 9 } })), `n${random.integer(40)}`);
      }
    },
  );

  it("looks no further than asked, and everyone's turn comes", () => {
    const { state, infos, evaluator } = cluster();
    for (let at = 0; at < 200; at++) state.setNode(node(`n${at}`));
    const seen = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const { indexes, count } = evaluator.filter(infos.of(pod("p")), { enough: 60 });
      expect(count).toBe(60);
      for (const index of indexes.subarray(0, count)) seen.add(index);
    }
    expect(seen.size).toBe(200);
  });

  it("tries the nominated node first, and alone", () => {
    const { state, infos, evaluator } = cluster();
    for (let at = 0; at < 3; at++) state.setNode(node(`n${at}`));
    const info = infos.of(pod("p"));
    const { indexes, count } = evaluator.filter(info, { nominated: "n2" });
    expect([...indexes.subarray(0, count)].map((index) => state.nodes[index]?.name)).toEqual(["n2"]);
    expect(evaluator.filter(info, { nominated: "gone" }).count).toBe(3);
  });
});
