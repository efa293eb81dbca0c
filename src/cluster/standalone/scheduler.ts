/** A standalone scheduler, like kube-scheduler: configured by flags and the files that they name. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { core } from "#api";
import { SCHEDULING_PATH } from "#apiserver";
import { TaskGroup } from "#base";
import type { ReadConfiguration, SchedulerConfiguration } from "#scheduler";
import type { Environment } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { readFlag } from "../config/flag-files.ts";
import { answerQuestions } from "../reasons/answer-questions.ts";
import { SchedulingReasons } from "../reasons/scheduling-reasons.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";

const NAME = "kube-scheduler";

export interface StandaloneSchedulerConfig extends Omit<ComponentConfig, "name" | "kubeconfig"> {
  /** May be set in the configuration file instead. */
  readonly kubeconfig?: string | undefined;
  /** A KubeSchedulerConfiguration. */
  readonly configFile?: string | undefined;
  /** How long an unschedulable Pod waits without events. */
  readonly parkedMs?: number | undefined;
  /** Overrides leader election of the file. */
  readonly electionFlags?: Partial<ReadConfiguration["leaderElection"]> | undefined;
}

/** Runs until the signal aborts. */
export async function runStandaloneScheduler(
  config: StandaloneSchedulerConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  // Loaded on demand: other commands start without it.
  const { configz, defaultRead, Explanations, podResourcesText, runScheduler, schedulerMetrics } = await import(
    "#scheduler"
  );
  const read = config.configFile === undefined ? undefined : await readConfigurationFile(config.configFile);
  for (const warning of read?.warnings ?? []) log.warn(warning, { file: config.configFile });
  const kubeconfig = config.kubeconfig ?? read?.clientConnection.kubeconfig;
  if (kubeconfig === undefined) {
    throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
  }
  // A follower has nothing to sync.
  let isSyncing = false;
  let pods: { list(): readonly core.Pod[] } | undefined;
  const onReady = () => {
    isSyncing = false;
  };
  const onPods = (known: typeof pods) => {
    pods = known;
  };
  const explanations = new Explanations();
  const reasons = new SchedulingReasons();
  reasons.use(explanations);
  const prepare = ({ client, random, metrics, features, tracer }: Component): Work => {
    const counted = schedulerMetrics(metrics);
    const configuration: { readonly configuration?: SchedulerConfiguration } =
      read === undefined ? {} : { configuration: read.scheduler };
    const reported = { metrics: counted, explanations, onReady, onPods };
    const { parkedMs } = config;
    const options = {
      client,
      tracer,
      features,
      instance: hostname(),
      parkedMs,
      clock,
      random,
      log,
      ...reported,
      ...configuration,
    };
    return async (running) => {
      isSyncing = true;
      const tasks = new TaskGroup({ parent: running });
      tasks.run("reasons", (signal) => answerQuestions({ client, reasons, clock, log }, signal));
      tasks.run("scheduler", (signal) => runScheduler(options, signal));
      try {
        await tasks.done();
      } finally {
        isSyncing = false;
        pods = undefined;
      }
    };
  };
  const { election: flags, electionFlags: given, parkedMs: _, ...rest } = config;
  const election = read === undefined ? flags : electionOf({ ...read.leaderElection, ...given });
  const component = {
    ...rest,
    election,
    name: NAME,
    workVerb: "Schedule",
    kubeconfig,
    reports: {
      [SCHEDULING_PATH]: (query: URLSearchParams) => reasons.of(query.get("uid") ?? ""),
      "/configz": () => configz(read ?? defaultRead()),
    },
    // Only the leader has them.
    texts: { "/metrics/resources": () => podResourcesText(pods?.list() ?? []) },
    readiness: [
      {
        name: "sched-handler-sync",
        check: async () => {
          if (isSyncing) throw new Error("handlers are not fully synchronized");
        },
      },
    ],
  };
  await runComponent(component, { clock, log }, prepare, signal);
}

/** Undefined: no leader election. */
function electionOf(settings: ReadConfiguration["leaderElection"]): ComponentConfig["election"] | undefined {
  const { leaderElect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, resourceName, resourceNamespace } = settings;
  if (!leaderElect) return undefined;
  if (leaseDurationMs <= renewDeadlineMs) {
    throw new ClusterError("leaseDuration must be longer than renewDeadline: see --config and the flags.");
  }
  if (renewDeadlineMs <= 1.2 * retryPeriodMs) {
    throw new ClusterError("renewDeadline must be longer than retryPeriod, by a fifth: see --config and the flags.");
  }
  return {
    namespace: resourceNamespace,
    lease: resourceName,
    leaseMs: leaseDurationMs,
    renewDeadlineMs,
    retryMs: retryPeriodMs,
  };
}

/** Throws ClusterError if the file is invalid. */
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
