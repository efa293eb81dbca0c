/**
 * `k8ts serve --ephemeral`: a cluster for tests in any language. It prints where its kubeconfig is, and ends with the
 * process that started it.
 *
 *     test ──► k8ts serve ──► cluster in memory ──► the kubeconfig's file, as a line on standard output
 *       └─ ends, by any death ···► the cluster ends, its files are removed
 */
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { type Clock, realClock } from "#base";
import { ClusterError } from "#cluster";
import { type ApisFlagOptions, apisOptions } from "../options/api-server/apis.ts";
import { controllersOption } from "../options/controllers.ts";
import { featureGatesOption } from "../options/features.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { wholeNumber } from "../options/values.ts";
import { componentLog } from "../process/component-log.ts";
import { parentEnded } from "../process/parent.ts";

const MAX_NODES = 1_000;
const MAX_SEED = 2 ** 31 - 1;

export interface ServeFlagOptions extends LoggingFlagOptions, ApisFlagOptions {
  readonly ephemeral?: boolean;
  readonly port: number;
  readonly kubeconfig?: string;
  readonly nodes: number;
  readonly controllers?: readonly string[];
  readonly scheduler: boolean;
  readonly crds?: readonly string[];
  readonly manifests?: readonly string[];
  readonly featureGates?: string;
  readonly seed: number;
  readonly faultSeed: number;
  readonly startAt?: Date;
  readonly stoppedClock?: boolean;
  readonly output: "path" | "json";
}

export function serveCommand(): Command {
  const command = new Command("serve")
    .description("run a cluster for tests: in memory, its time under control, gone with the process that started it")
    .option("--ephemeral", "needed: there are no other clusters of this kind; one that stays is started by k8ts up")
    .addOption(
      new Option("--port <port>", "port on loopback; 0 picks a free one").argParser(wholeNumber(0, 65_535)).default(0),
    )
    .option(
      "--kubeconfig <file>",
      "where the kubeconfig is written (default: a temporary file); it is removed at the end",
    )
    .addOption(new Option("--nodes <n>", "number of simulated nodes").argParser(wholeNumber(0, MAX_NODES)).default(1))
    .addOption(controllersOption())
    .option("--no-scheduler", "run no scheduler")
    .option("--crds <paths>", "folders and files of CustomResourceDefinitions, comma-separated", list)
    .option("--manifests <paths>", "folders and files of other objects, applied in this order", list)
    .addOption(new Option("--seed <n>", "names and uids follow from it").argParser(wholeNumber(0, MAX_SEED)).default(1))
    .addOption(
      new Option("--fault-seed <n>", "faults that happen by chance follow from it")
        .argParser(wholeNumber(0, MAX_SEED))
        .default(1),
    )
    .option("--start-at <time>", "the wall time at the beginning, such as 2030-01-01T00:00:00Z (default: now)", time)
    .addOption(
      new Option(
        "--output <form>",
        "what is printed: the kubeconfig's file, or a line of JSON with all that clients need",
      )
        .choices(["path", "json"])
        .default("path"),
    )
    .option("--stopped-clock", "time stands still until POST /k8ts/clock moves it (default: it flows)")
    .action(async (options: ServeFlagOptions) => {
      await run(options, realClock());
    });
  for (const option of [featureGatesOption(), ...apisOptions()]) command.addOption(option);
  for (const option of loggingOptions()) command.addOption(option);
  return command;
}

async function run(options: ServeFlagOptions, clock: Clock): Promise<void> {
  if (options.ephemeral !== true)
    throw new ClusterError(
      "k8ts serve runs clusters for tests only: say --ephemeral, or use k8ts up for one that stays.",
    );
  const log = componentLog(clock, loggingFrom(options));
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      // A second signal always ends the process, even if stopping hangs.
      if (ending.signal.aborted) process.exit(1);
      ending.abort();
    });
  const orphaned = parentEnded(clock, ending.signal).then((ended) => {
    if (ended) ending.abort();
  });
  const { serveCluster } = await import("#testing");
  const { kubeconfig, crds = [], manifests = [], startAt = new Date(clock.now()), stoppedClock = false } = options;
  const { port, nodes, controllers, scheduler, seed, faultSeed, featureGates, runtimeConfig } = options;
  const place = { port, ...(kubeconfig !== undefined && { kubeconfig: resolve(kubeconfig) }) };
  const parts = { nodes, controllers, scheduler, crds, manifests, seed, faultSeed, featureGates, runtimeConfig };
  const cluster = await serveCluster({ ...place, ...parts, startAt, flows: !stoppedClock, log }, clock);
  const ended = Promise.withResolvers<void>();
  cluster.ready.catch(ended.reject);
  // What the test needs from the start is there when it reads the path; nodes are Ready a moment later.
  if (crds.length + manifests.length > 0) await cluster.ready;
  const { connection } = cluster;
  process.stdout.write(`${options.output === "json" ? JSON.stringify(connection) : connection.kubeconfigFile}\n`);
  if (ending.signal.aborted) ended.resolve();
  ending.signal.addEventListener("abort", () => ended.resolve(), { once: true });
  try {
    await ended.promise;
  } finally {
    ending.abort();
    await cluster.stop();
    await orphaned;
  }
}

function list(text: string): readonly string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function time(text: string): Date {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new ClusterError(`--start-at: "${text}" is not a time like 2030-01-01T00:00:00Z.`);
  return new Date(ms);
}
