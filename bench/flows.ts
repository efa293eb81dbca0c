/**
 * What recording flows costs: requests of a server that records against those of one that does not.
 *
 * 1. Both run side by side and take turns under the same load, each first in every other round. The best round of each counts, and the median of
 *    the rounds' ratios is told besides: machines have moods.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "./apiserver/connection.ts";
import { configMap } from "./apiserver/objects.ts";
import { type Generator, startGenerator, startK8ts } from "./apiserver/processes.ts";
import type { Figure } from "./run.ts";

const ROUNDS = 10;
const MAPS = "/api/v1/namespaces/default/configmaps";

export async function run(report: (figure: Figure) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-flows-"));
  try {
    await using generator = startGenerator();
    await using recording = await startK8ts(join(dir, "on"), "API server", ["--flow-records=memory"]);
    await using silent = await startK8ts(join(dir, "off"), "API server", ["--flow-records=off"]);
    for (const { target } of [recording, silent]) await create(generator, target, 1_000_000, 1);
    const get = (target: Target) =>
      rate(generator, { target, method: "GET", path: `${MAPS}/config-1000000`, requests: 30_000 });
    const writes = (target: Target, round: number) => create(generator, target, round * 8_000, 8_000);
    for (const [name, one] of Object.entries({ "GET ConfigMap": get, "create ConfigMap": writes })) {
      const [on, off]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        const turns = [
          () => one(recording.target, round).then((rate) => on.push(rate)),
          () => one(silent.target, round).then((rate) => off.push(rate)),
        ];
        for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
      }
      report({
        name: `${name}, recorded, to one that is not`,
        value: Math.max(...on),
        unit: "requests/s",
        bound: Math.max(...off),
      });
      const ratios = on.map((rate, round) => rate / (off[round] ?? rate)).sort((a, b) => a - b);
      report({ name: `${name}, the median of ${ROUNDS} rounds' ratios`, value: ratios[ROUNDS / 2] ?? 0, unit: "" });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function create(generator: Generator, target: Target, first: number, requests: number): Promise<number> {
  const post = { method: "POST", contentType: "application/json" } as const;
  return rate(generator, { target, ...post, path: MAPS, body: configMap, first, requests });
}

async function rate(
  generator: Generator,
  job: Omit<Parameters<Generator["run"]>[0], "protocol" | "connections">,
): Promise<number> {
  const { ms } = await generator.run({ protocol: "http/1.1", connections: 32, ...job });
  return (job.requests * 1000) / ms;
}
