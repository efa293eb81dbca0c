/** What a hit costs in MemoMap and in LruMap, against a plain Map: processor time, in turn, the median of the rounds. */
import { LruMap, MemoMap } from "#base";
import type { Figure } from "./run.ts";

const HITS = 2_000_000;
const WARM_UP_ROUNDS = 2;
const ROUNDS = 11;
const KEYS = Array.from({ length: 256 }, (_, i) => `application/json;key=${i}`);

export async function run(report: (figure: Figure) => void): Promise<void> {
  const maps = {
    Map: new Map<string, object>(),
    MemoMap: new MemoMap<string, object>(512),
    LruMap: new LruMap<string, object>(512),
  };
  for (const key of KEYS) for (const map of Object.values(maps)) map.set(key, {});
  const rounds: Record<string, number[]> = { Map: [], MemoMap: [], LruMap: [] };
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    rounds.Map?.push(nanoseconds(() => each((key) => maps.Map.get(key))));
    rounds.MemoMap?.push(nanoseconds(() => each((key) => maps.MemoMap.get(key))));
    rounds.LruMap?.push(nanoseconds(() => each((key) => maps.LruMap.get(key))));
  }
  const bound = median(rounds.Map ?? []);
  for (const [name, of] of Object.entries(rounds))
    report({ name: `a hit in ${name}`, value: median(of), unit: "ns", bound });
}

function each(use: (key: string) => unknown): void {
  for (let i = 0; i < HITS; i++) use(KEYS[i % KEYS.length] ?? "");
}

function nanoseconds(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / HITS;
}

function median(values: readonly number[]): number {
  return [...values.slice(WARM_UP_ROUNDS)].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
