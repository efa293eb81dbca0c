/** The scheduler in a process of its own, as kube-scheduler is one: everything comes from flags and the files that they name. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { SCHEDULING_PATH } from "#apiserver";
import { TaskGroup } from "#base";
import type { ReadConfiguration, SchedulerConfiguration } from "#scheduler";
import { answerQuestions } from "./answer-questions.ts";
import { readFlag } from "./changing-files.ts";
import type { Environment } from "./cluster.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";
import { ClusterError } from "./errors.ts";
import { SchedulingReasons } from "./scheduling-reasons.ts";

const NAME = "kube-scheduler";

export interface LoneSchedulerConfig extends Omit<ComponentConfig, "name" | "kubeconfig"> {
  /** May stand in the configuration file instead. */
  readonly kubeconfig?: string;
  /** A KubeSchedulerConfiguration. */
  readonly configFile?: string;
}

/** Until the signal aborts. */
export async function runLoneScheduler(
  config: LoneSchedulerConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  // Loaded only here: other commands need not wait for it.
  const { Explanations, runScheduler, schedulerMetrics } = await import("#scheduler");
  const read = config.configFile === undefined ? undefined : await readConfigurationFile(config.configFile);
  for (const warning of read?.warnings ?? []) log.warn(warning, { file: config.configFile });
  const kubeconfig = config.kubeconfig ?? read?.clientConnection.kubeconfig;
  if (kubeconfig === undefined) {
    throw new ClusterError("--kubeconfig is needed: it says how to reach the API server.");
  }
  const explanations = new Explanations();
  const reasons = new SchedulingReasons();
  reasons.use(explanations);
  const prepare = ({ client, random, metrics }: Component): Work => {
    const counted = schedulerMetrics(metrics);
    const configuration: { readonly configuration?: SchedulerConfiguration } =
      read === undefined ? {} : { configuration: read.scheduler };
    const reported = { metrics: counted, explanations };
    const options = { client, instance: hostname(), clock, random, log, ...reported, ...configuration };
    return async (running) => {
      const tasks = new TaskGroup({ parent: running });
      tasks.run("reasons", (signal) => answerQuestions({ client, reasons, clock, log }, signal));
      tasks.run("scheduler", (signal) => runScheduler(options, signal));
      await tasks.done();
    };
  };
  const { election: flags, ...rest } = config;
  const election = electionOf(flags, read);
  const component = {
    ...rest,
    ...(election !== undefined && { election }),
    name: NAME,
    kubeconfig,
    reports: { [SCHEDULING_PATH]: (query: URLSearchParams) => reasons.of(query.get("uid") ?? "") },
  };
  await runComponent(component, { clock, log }, prepare, signal);
}

/** Where there is a file, it says who is elected and how; the flags are for where there is none. */
function electionOf(
  flags: ComponentConfig["election"],
  read: ReadConfiguration | undefined,
): ComponentConfig["election"] | undefined {
  if (read === undefined || flags === undefined) return flags;
  const { leaderElect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, resourceName, resourceNamespace } =
    read.leaderElection;
  if (!leaderElect) return undefined;
  return {
    namespace: resourceNamespace,
    lease: resourceName,
    leaseMs: leaseDurationMs,
    renewDeadlineMs,
    retryMs: retryPeriodMs,
  };
}

/** Throws ClusterError for what is wrong with the file. */
async function readConfigurationFile(file: string): Promise<ReadConfiguration> {
  const { ConfigurationError, readConfiguration } = await import("#scheduler");
  const content = await readFlag("--config", file);
  try {
    return readConfiguration(content, (path) => readFileSync(path, "utf8"));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ClusterError(`--config ${file}: ${error.message}.`, { cause: error });
  }
}
