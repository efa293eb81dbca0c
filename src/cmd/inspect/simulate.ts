/** `k8ts simulate`: the whole cluster on one seed, with faults, until an invariant breaks. */
import { Command, Option } from "commander";
import { ClusterError } from "#cluster";
import { wholeNumber } from "../options/values.ts";

interface SimulateOptions {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly bug?: string;
  readonly operator?: string;
  readonly onlyFaults?: readonly number[];
  readonly decisions?: number;
  readonly minutes?: number;
  readonly shrink: boolean;
  readonly flow?: boolean;
  readonly list?: boolean;
}

const MOST = Number.MAX_SAFE_INTEGER;
const EVERY = 50;

export function simulateCommand(): Command {
  return new Command("simulate")
    .description(
      "run the whole cluster in this process, again and again, each time on a seed that decides on order, delays and\n" +
        "faults, and check that what must be true stays true. The same seed gives the same run.",
    )
    .argument("[scenario]", "what users do meanwhile; see --list", "all")
    .option("--list", "list scenarios, invariants and bugs that can be planted")
    .addOption(new Option("--seed <n>", "run this seed alone").argParser(wholeNumber(0, MOST)))
    .addOption(new Option("--seeds <n>", "run so many seeds").argParser(wholeNumber(1, MOST)).default(100))
    .addOption(new Option("--from <n>", "the first seed").argParser(wholeNumber(0, MOST)).default(1))
    .addOption(new Option("--minutes <m>", "stop after so many minutes").argParser(wholeNumber(1, 10_000)))
    .option("--operator <file>", "simulate the operator of this ES module: see docs/testing.md")
    .option("--bug <name>", "plant a bug, to see that it is found")
    .addOption(new Option("--only-faults <numbers>", "only these faults of the seed, or none").argParser(faultNumbers))
    .addOption(
      new Option("--decisions <n>", "let the seed decide only so often about order and delays").argParser(
        wholeNumber(0, MOST),
      ),
    )
    .option("--no-shrink", "print a failure as it is found, not reduced to what it needs")
    .option("--flow", "print everything that happens, and the hash of it")
    .addHelpText("after", HELP)
    .action(act);
}

const HELP = `
A failure is printed with the invariant, the smallest case, a diagram of what led there, and the command that runs it
again. To look at it in a debugger: NODE_OPTIONS=--inspect-brk k8ts simulate … --seed N

Exit code: 0 if all invariants hold in all runs, 1 if one is broken.

Examples:
  k8ts simulate                                   100 seeds of all scenarios, mixed
  k8ts simulate rollout --seeds 1000
  k8ts simulate --operator operator.mjs --minutes 10
  k8ts simulate scale --bug no-barrier            the controller has a race: is it found?
  k8ts simulate all --seed 17 --only-faults 3,4   a failure again, reduced`;

async function act(name: string, options: SimulateOptions): Promise<void> {
  const simulation = await import("#testing/simulate");
  if (options.list === true) {
    process.stdout.write(listed(simulation));
    return;
  }
  const { scenarios, bugs, simulate, scenarioOfFile, failureReport } = simulation;
  const { operator, seed, seeds, from, onlyFaults, decisions, minutes, shrink, flow } = options;
  const scenario = operator === undefined ? scenarios.find((each) => each.name === name) : await loaded(operator);
  if (scenario === undefined) throw unknown("scenario", name, scenarios);
  const bug = bugs.find((each) => each.name === options.bug);
  if (options.bug !== undefined && bug === undefined) throw unknown("bug", options.bug, bugs);
  let runs = 0;
  const { failure } = await simulate({
    ...{ scenario, bug, onlyFaults, decisions, minutes, from },
    seeds: seed === undefined ? seeds : [seed],
    // A case that is named is to be seen as it is.
    shrinks: shrink && seed === undefined,
    ran: ({ history, hash }) => {
      runs += 1;
      if (flow === true) process.stdout.write(`${history.lines.join("\n")}\n${hash}\n`);
      else if (runs % EVERY === 0) process.stderr.write(`${runs} runs\n`);
    },
  });
  if (failure === undefined) {
    process.stdout.write(`${runs} ${runs === 1 ? "run" : "runs"} of ${scenario.name}: all invariants hold\n`);
    return;
  }
  const command = operator === undefined ? `k8ts simulate ${name}` : `k8ts simulate --operator ${operator}`;
  process.stdout.write(failureReport(failure, command));
  process.exitCode = 1;

  async function loaded(file: string) {
    try {
      return await scenarioOfFile(file);
    } catch (error) {
      throw new ClusterError(`--operator ${file}: ${(error as Error).message}`, { cause: error });
    }
  }
}

interface Named {
  readonly name: string;
  readonly words: string;
}

function listed(all: {
  readonly scenarios: readonly Named[];
  readonly invariants: readonly Named[];
  readonly bugs: readonly Named[];
}): string {
  const { scenarios, invariants, bugs } = all;
  return Object.entries({ scenarios, invariants, bugs })
    .map(([title, rows]) => [title, ...rows.map(({ name, words }) => `  ${name.padEnd(22)}${words}`), ""].join("\n"))
    .join("\n");
}

function unknown(what: string, name: string, known: readonly Named[]): ClusterError {
  return new ClusterError(`There is no ${what} ${name}. There are: ${known.map((each) => each.name).join(", ")}.`);
}

function faultNumbers(text: string): readonly number[] {
  return text === "none" ? [] : text.split(",").map(wholeNumber(1, MOST));
}
