/**
 * What recording flows costs: one server, with its recorder switched on and off in turns.
 *
 * 1. Turns are short and come in pairs; the median of the pairs' ratios counts: a machine's moods last longer than a pair, and what luck a process
 *    had with its code and its heap is the same in both turns.
 * 2. Which turn of a pair comes first is chance: collections come at intervals of their own, and would meet every other turn of a fixed order.
 * 3. Besides requests in a second, what the server's process used of all cores for each: time that others took is no part of it.
 * 4. The step alone is timed as well, in this process, against the time that a GET takes.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "#base";
import { configMap } from "./apiserver/objects.ts";
import { startGenerator } from "./apiserver/processes.ts";
import { type Load, rate } from "./apiserver/rate.ts";
import { stepMicroseconds } from "./flows/step-alone.ts";
import type { Answer, Wish } from "./flows/switched-server.ts";
import type { Figure } from "./run.ts";

const PAIRS = 60;
const WARM_UP = 30;
const MAPS = "/api/v1/namespaces/default/configmaps";
const GETS = 5_000;
const CREATES = 1_000;

interface Turn {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

export async function run(report: (figure: Figure) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-flows-"));
  const server = fork(join(import.meta.dirname, "flows", "switched-server.ts"));
  try {
    await using generator = startGenerator();
    const { target } = await ask(server, { dir });
    if (target === undefined) throw new Error("the server says not where it is");
    const random = seededRandom(1);
    let made = 0;
    const create = (requests: number): Load => {
      const first = made;
      made += requests;
      return { target, method: "POST", contentType: "application/json", path: MAPS, body: configMap, first, requests };
    };
    const get = (requests: number): Load => ({ target, method: "GET", path: `${MAPS}/config-0`, requests });
    const turn = async (recording: boolean, load: Load): Promise<Turn> => {
      const before = await ask(server, { recording });
      const perSecond = await rate(generator, { ...load, keep: true });
      const after = await ask(server, { recording });
      return { perSecond, cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.requests };
    };
    await turn(true, create(1));
    const loads = { "GET ConfigMap": () => get(GETS), "create ConfigMap": () => create(CREATES) };
    for (const [name, load] of Object.entries(loads)) {
      // The compiler takes long to settle, and looks at both ways.
      for (let round = 0; round < WARM_UP; round++) await turn(round % 2 === 0, load());
      const pairs: { readonly on: Turn; readonly off: Turn }[] = [];
      for (let pair = 0; pair < PAIRS; pair++) {
        const isFirst = random.next() < 0.5;
        const first = await turn(isFirst, load());
        const second = await turn(!isFirst, load());
        pairs.push(isFirst ? { on: first, off: second } : { on: second, off: first });
      }
      const off = median(pairs.map((each) => each.off.perSecond));
      report({
        name: `${name}, recorded`,
        value: median(pairs.map((each) => each.on.perSecond)),
        unit: "/s",
        bound: off,
      });
      report({
        name: `${name}: median of ${PAIRS} pairs' ratios`,
        value: median(pairs.map(({ on, off }) => on.perSecond / off.perSecond)),
        unit: "",
      });
      report({
        name: `${name}: processor time`,
        value: median(pairs.map(({ on }) => on.cpuMicroseconds)),
        unit: "µs",
        bound: median(pairs.map(({ off }) => off.cpuMicroseconds)),
        ratio: median(pairs.map(({ on, off }) => on.cpuMicroseconds / off.cpuMicroseconds)),
      });
      if (name.startsWith("GET"))
        report({
          name: `${name}: the step alone`,
          value: await stepMicroseconds(),
          unit: "µs",
          bound: 1_000_000 / off,
        });
    }
  } finally {
    server.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  }
}

async function ask(server: ReturnType<typeof fork>, wish: Wish): Promise<Answer> {
  server.send(wish);
  const [answer] = (await once(server, "message")) as [Answer];
  return answer;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
