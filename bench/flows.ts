/**
 * What recording flows costs: one server, with its recorder switched on and off in turns.
 *
 * 1. Turns are short and come in threes, one recorded and two not; the median of the ratios within these counts: a
 *    machine's moods last longer than three turns, and what luck a process had with its code and its heap is the same
 *    in all of them.
 * 2. Which of the three is recorded is chance: collections come at intervals of their own, and would meet the same turn
 *    of a fixed order.
 * 3. The two that are not recorded are compared as well: how far that ratio is from 1 is how far the other can be
 *    believed.
 * 4. Besides requests in a second, what the server's process used of all cores for each: time that others took is no
 *    part of it.
 * 5. The step alone is timed as well, in this process, against the time that a request takes.
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

const ROUNDS = 400;
const WARM_UP = 30;
const MAPS = "/api/v1/namespaces/default/configmaps";
const GETS = 500;
const CREATES = 120;
/** How much longer turns are before it counts. */
const WARM_UP_FACTOR = 8;

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
      const perSecond = await rate(generator, { ...load, keep: true, awake: true });
      const after = await ask(server, { recording });
      return { perSecond, cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.requests };
    };
    await turn(true, create(1));
    const loads = [
      { verb: "get", name: "GET ConfigMap", load: get, requests: GETS },
      { verb: "create", name: "create ConfigMap", load: create, requests: CREATES },
    ] as const;
    for (const { verb, name, load, requests } of loads) {
      // The compiler takes long to settle, and looks at both ways.
      for (let round = 0; round < WARM_UP; round++) await turn(round % 2 === 0, load(requests * WARM_UP_FACTOR));
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const recordedAt = Math.floor(random.next() * 3);
        const turns: Turn[] = [];
        for (let at = 0; at < 3; at++) turns.push(await turn(at === recordedAt, load(requests)));
        const [on] = turns.splice(recordedAt, 1);
        const [off, again] = turns;
        if (on !== undefined && off !== undefined && again !== undefined) rounds.push({ on, off, again });
      }
      const of = (value: (round: Round) => number) => median(rounds.map(value));
      const off = of((each) => each.off.perSecond);
      report({ name: `${name}, recorded`, value: of(({ on }) => on.perSecond), unit: "/s", bound: off });
      report({
        name: `${name}: median of ${ROUNDS} ratios`,
        value: of(({ on, off, again }) => (2 * on.perSecond) / (off.perSecond + again.perSecond)),
        unit: "",
      });
      report({
        name: `${name}: the same of two turns, none recorded`,
        value: of(({ off, again }) => again.perSecond / off.perSecond),
        unit: "",
      });
      report({
        name: `${name}: processor time`,
        value: of(({ on }) => on.cpuMicroseconds),
        unit: "µs",
        bound: of(({ off }) => off.cpuMicroseconds),
        ratio: of(({ on, off, again }) => (2 * on.cpuMicroseconds) / (off.cpuMicroseconds + again.cpuMicroseconds)),
      });
      report({ name: `${name}: the step alone`, value: stepMicroseconds(verb), unit: "µs", bound: 1_000_000 / off });
    }
  } finally {
    server.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Round {
  readonly on: Turn;
  readonly off: Turn;
  readonly again: Turn;
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
