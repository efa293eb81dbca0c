/**
 * `npm run bench [-- NAME…]`: runs the benchmarks of these names, or whose names contain a word that is no name; all
 * without any. Machines differ, so figures come with a ratio to a bound that was measured in the same run.
 */
import { globSync } from "node:fs";
import { basename, join } from "node:path";

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the platform can do at best, measured in the same run. */
  readonly bound?: number;
  readonly ratio?: number;
}

const words = process.argv.slice(2);
const all = globSync("*.ts", { cwd: import.meta.dirname }).filter((file) => file !== "run.ts");
const isAsked = (file: string) => (word: string) =>
  all.includes(`${word}.ts`) ? file === `${word}.ts` : file.includes(word);
const files = all.filter((file) => words.length === 0 || words.some(isAsked(file))).sort();
if (files.length === 0) {
  console.error(`No benchmark has ${words.join(" or ")} in its name.`);
  process.exit(1);
}
for (const file of files) {
  console.log(`\n${basename(file, ".ts")}`);
  const { run } = (await import(join(import.meta.dirname, file))) as {
    run(report: (figure: Figure) => void): Promise<void>;
  };
  await run(print);
}

function print({ name, value, unit, bound, ratio }: Figure): void {
  const figure = `  ${name.padEnd(68)}${amount(value).padStart(12)} ${unit.padEnd(12)}`;
  const relative = bound === undefined ? "" : `${(ratio ?? value / bound).toFixed(2)} of ${amount(bound)}`;
  console.log(`${figure}${relative}`.trimEnd());
}

function amount(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 });
}
