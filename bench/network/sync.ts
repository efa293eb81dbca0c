/**
 * `sync.ts MODE NAMESPACE`: tells the kernel of that namespace of all Services, then of changes, and prints figures. A
 * process of its own, for its memory's sake.
 */
import type { Figure } from "../run.ts";
import { ENDPOINTS, type Mode, programIn, rulesOf, SERVICES, services, virtualAddress } from "./services.ts";

const CHANGES = 25;
const signal = new AbortController().signal;
const [mode, namespace] = process.argv.slice(2) as [Mode, string];
const run = programIn(namespace);
const figures: Figure[] = [];
const size = `${SERVICES.toLocaleString("en")} × ${ENDPOINTS}`;

// What it takes to start nft and to change anything at all.
const bares = await times(7, () => run("nft", ["-f", "-"], "add table ip bare", signal));
const all = services();
const before = memory();
const rules = rulesOf(mode, run);
const full = await timed(() => rules.apply(all, signal));
const after = memory();
figures.push({ name: `${mode}: full sync of ${size}`, value: full, unit: "ms" });
let turn = 0;
const changes = await times(CHANGES, () => {
  turn += 1;
  return rules.apply(new Map([[`s${turn * 7}`, [virtualAddress(turn * 7, 1)]]]), signal);
});
const bound = median(bares);
figures.push({ name: `${mode}: one change among them, median`, value: median(changes), unit: "ms", bound });
figures.push({
  name: `${mode}: one change among them, slowest of ${CHANGES}`,
  value: Math.max(...changes),
  unit: "ms",
});
figures.push({ name: `${mode}: full resync`, value: await timed(() => rules.resync(signal)), unit: "ms" });
figures.push({ name: `${mode}: heap of what is known`, value: (after.heap - before.heap) / 1e6, unit: "MB" });
figures.push({
  name: `${mode}: resident, against before`,
  value: after.rss / 1e6,
  unit: "MB",
  bound: before.rss / 1e6,
});
const peak = (process.resourceUsage().maxRSS * 1024) / 1e6;
figures.push({ name: `${mode}: resident at most`, value: peak, unit: "MB" });
process.stdout.write(JSON.stringify(figures));

/** Of this process, after what is garbage has gone. */
function memory(): { readonly heap: number; readonly rss: number } {
  globalThis.gc?.();
  return { heap: process.memoryUsage().heapUsed, rss: process.memoryUsage.rss() };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function times(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let each = 0; each < count; each++) taken.push(await timed(work));
  return taken;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
