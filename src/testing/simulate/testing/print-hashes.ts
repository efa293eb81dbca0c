/** Prints the hashes of runs of the mixture, as JSON: a process of its own for the test of determinism. */
import { prepared } from "../prepared.ts";
import { run } from "../run.ts";
import { scenarios } from "../scenarios/index.ts";

const scenario = scenarios.find(({ name }) => name === "all");
if (scenario === undefined) throw new Error("there is no mixture");
const start = await prepared(scenario.parts);
const found: Record<string, string> = {};
for (const seed of process.argv.slice(2).map(Number))
  found[seed] = (await run({ scenario, seed, prepared: start })).hash;
process.stdout.write(JSON.stringify(found));
