/**
 * Feeds mutated inputs to a target, and counts what became of them.
 *
 * By hand: `npm run fuzz -- --minutes 30 --seed 7 --only yaml`. Findings are written to test/fuzz/corpus, which every
 * run replays.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "#base";
import { mutated } from "./mutate.ts";
import type { Target } from "./target.ts";
import { targets } from "./targets.ts";

const CORPUS = join(import.meta.dirname, "corpus");
const MAX_CPU_MS = 200;

export interface Tally {
  tried: number;
  accepted: number;
  refused: number;
  /** Messages without the parts that come from the input. */
  readonly messages: Set<string>;
  readonly findings: { readonly bytes: Buffer; readonly what: string }[];
}

export const newTally = (): Tally => ({ tried: 0, accepted: 0, refused: 0, messages: new Set(), findings: [] });

export async function tryInput(target: Target, bytes: Buffer, tally: Tally): Promise<void> {
  tally.tried++;
  const cpuMs = await attempt(target, bytes, tally);
  // Measured twice: once may be the collector's or the compiler's time.
  if (cpuMs > MAX_CPU_MS && (await attempt(target, bytes, newTally())) > MAX_CPU_MS)
    tally.findings.push({ bytes, what: `takes ${Math.round(cpuMs)} ms` });
}

async function attempt({ read, errors }: Target, bytes: Buffer, tally: Tally): Promise<number> {
  const before = process.cpuUsage();
  try {
    const result = await read(bytes);
    if (result === undefined || result === false) tally.refused++;
    else tally.accepted++;
  } catch (error) {
    tally.refused++;
    if (!(error instanceof Error) || !errors.some((each) => error instanceof each))
      tally.findings.push({ bytes, what: error instanceof Error ? `${error.stack}` : String(error) });
    else if (tally.messages.size < 10_000) tally.messages.add(shape(error.message));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const shape = (message: string) =>
  message
    .replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '"…"')
    .replaceAll(/\d+/g, "N")
    .slice(0, 60);

export async function fuzz(target: Target, seed: number, goOn: (tally: Tally) => boolean): Promise<Tally> {
  const random = seededRandom(seed);
  const tally = newTally();
  while (goOn(tally)) await tryInput(target, mutated(random, target.seeds), tally);
  return tally;
}

/** Inputs that were findings once; a file's name begins with its target's. */
export function corpusOf(name: string): Buffer[] {
  const prefix = `${name.replaceAll(" ", "-")}.`;
  return readdirSync(CORPUS)
    .filter((file) => file.startsWith(prefix))
    .map((file) => readFileSync(join(CORPUS, file)));
}

function keep(name: string, bytes: Buffer): string {
  mkdirSync(CORPUS, { recursive: true });
  const file = join(
    CORPUS,
    `${name.replaceAll(" ", "-")}.${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}`,
  );
  writeFileSync(file, bytes);
  return file;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: "string" }, seed: { type: "string" }, only: { type: "string" } },
  });
  const seed = Number(values.seed ?? 1);
  const chosen = Object.entries(targets).filter(([name]) => values.only === undefined || name === values.only);
  if (chosen.length === 0) throw new Error(`--only must be one of ${Object.keys(targets).join(", ")}`);
  const each = (Number(values.minutes ?? 1) * 60_000) / chosen.length;
  for (const [name, target] of chosen) {
    const end = performance.now() + each;
    const tally = await fuzz(target, seed, ({ findings }) => performance.now() < end && findings.length < 20);
    const { tried, accepted, refused, messages, findings } = tally;
    console.log(`| ${name} | ${tried} | ${accepted} | ${refused} | ${messages.size} | ${findings.length} |`);
    for (const { bytes, what } of findings) console.log(`${keep(name, bytes)}: ${what}`);
    if (findings.length > 0) process.exitCode = 1;
  }
}

if (import.meta.main) await main();
