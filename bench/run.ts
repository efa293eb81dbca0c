/**
 * `npm run bench [-- NAME…]`: runs the benchmarks whose name contains one of the words, all without any.
 * Machines differ, so figures come with a ratio to a bound that was measured in the same run.
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
const files = globSync("*.ts", { cwd: import.meta.dirname })
  .filter((file) => file !== "run.ts")
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
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
  const figure = `  ${name.padEnd(52)}${amount(value).padStart(12)} ${unit.padEnd(12)}`;
  const relative = bound === undefined ? "" : `${(ratio ?? value / bound).toFixed(2)} of ${amount(bound)}`;
  console.log(`${figure}${relative}`.trimEnd());
}

function amount(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 });
}
