/** The scenarios that k8ts brings along. */
import { seededRandom } from "#base";
import type { Scenario, Stage } from "../scenario.ts";
import { type Act, CANDIDATES, jobs, leaders, nodeLoss, ordinals, quota, rollout, scale } from "./acts.ts";

const PARTS = { nodes: { count: 3, cpu: "1", memory: "4Gi", pods: 20 } };

function scenario(name: string, words: string, act: Act, more: Partial<Scenario> = {}): Scenario {
  return { name, words, parts: PARTS, play: act, ...more };
}

const single: readonly Scenario[] = [
  scenario("rollout", "a Deployment is updated, scaled and paused", rollout),
  scenario("scale", "a Deployment is scaled, deleted and made again", scale),
  scenario("node-loss", "a node is lost and another drained, with a budget", nodeLoss),
  scenario("quota", "Deployments compete for a quota", quota),
  scenario("statefulset", "a StatefulSet is updated and scaled, and loses a Pod", ordinals),
  scenario("job", "Jobs run, and one is replaced by another of its name", jobs),
  scenario("leaders", "two candidates compete for a lease", leaders, { actors: CANDIDATES }),
];

/** Two or three of them at once, by seed. */
const all: Scenario = {
  name: "all",
  words: "two or three of the others at once, by seed",
  parts: PARTS,
  actors: CANDIDATES,
  async play(stage: Stage) {
    const rest = [...single];
    const count = 1 + stage.random.integer(2);
    const picked = Array.from({ length: count }, () => rest.splice(stage.random.integer(rest.length), 1)[0]);
    await Promise.all(
      picked.map((each) => each?.play({ ...stage, random: seededRandom(stage.random.integer(2 ** 31)) })),
    );
  },
};

export const scenarios: readonly Scenario[] = [...single, all];
