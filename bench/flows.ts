/**
 * What recording flows costs: requests of a server that records against those of one that does not.
 *
 * 1. Both run side by side and take turns under the same load, each first in every other round. The best round of each counts, and the median of
 *    the rounds' ratios is told besides: machines have moods.
 * 2. Moods are larger than what is measured. So the step alone is timed as well, in this process, against the time that a GET takes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "#base";
import { Recorder } from "#flows";
import { flowStep } from "../src/apiserver/flows/step.ts";
import type { Exchange } from "../src/apiserver/pipeline.ts";
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
      if (one === get) {
        const bound = 1_000_000 / Math.max(...off);
        report({ name: `${name}: the step alone`, value: await stepMicroseconds(), unit: "µs", bound });
      }
      const ratios = on.map((rate, round) => rate / (off[round] ?? rate)).sort((a, b) => a - b);
      report({ name: `${name}, the median of ${ROUNDS} rounds' ratios`, value: ratios[ROUNDS / 2] ?? 0, unit: "" });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What the step adds to an answer that is there at once; the best of some rounds. */
async function stepMicroseconds(): Promise<number> {
  const clock = realClock();
  const step = flowStep({ recorder: new Recorder(), revision: () => 1, clock });
  const response = { status: 200, headers: {}, body: [] };
  const next = () => Promise.resolve(response);
  const info = { isResourceRequest: true, verb: "get", apiGroup: "", resource: "configmaps", subresource: "" };
  const exchangeOf = (count: number) =>
    ({
      info: { ...info, namespace: "default", name: `config-${count}` },
      user: { name: "admin" },
      original: { headers: { "user-agent": "bench" } },
      annotations: new Map(),
    }) as unknown as Exchange;
  const round = async (handle: (exchange: Exchange) => Promise<unknown>) => {
    const start = clock.monotonic();
    for (let count = 0; count < 200_000; count++) await handle(exchangeOf(count));
    return (clock.monotonic() - start) / 200;
  };
  let [bare, recorded] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < 5; turn++) {
    bare = Math.min(bare, await round(next));
    recorded = Math.min(recorded, await round((exchange) => step(exchange, next)));
  }
  return recorded - bare;
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
