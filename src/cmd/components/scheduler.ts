/**
 * `k8ts scheduler`: the scheduler in its own process, with the flags of kube-scheduler. Several may run; the elected
 * leader works.
 */
import { Command, Option } from "commander";
import { runStandaloneScheduler, type StandaloneSchedulerConfig } from "#cluster";
import { type ComponentOptions, componentFrom, componentOptions } from "../options/component.ts";
import { type FeatureOptions, featureOptions, featuresFrom } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import {
  helpOnFlags,
  IDLE_IN_COMPONENTS,
  names,
  notesOnFlags,
  type OriginalFlags,
  originalFlags,
} from "../options/upstream-flags.ts";
import { milliseconds } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

export interface SchedulerOptions extends ComponentOptions, LoggingFlagOptions, FeatureOptions {
  readonly config?: string;
  readonly podMaxInUnschedulablePodsDuration?: number;
}

const ORIGINAL: OriginalFlags = {
  component: "this scheduler",
  withoutEffect: {
    ...IDLE_IN_COMPONENTS,
  },
  refused: names("tls-sni-cert-key write-config-to"),
  fixed: {},
};

export function schedulerCommand(): Command {
  const command = new Command("scheduler")
    .alias("kube-scheduler")
    .description("run only the scheduler, with the flags of kube-scheduler")
    .option("--config <file>", "KubeSchedulerConfiguration: profiles, plugins, extenders")
    .addOption(
      new Option(
        "--pod-max-in-unschedulable-pods-duration <duration>",
        "maximum time that a Pod stays unschedulable before it is retried (default: 5m)",
      ).argParser(milliseconds),
    )
    .action(async (options: SchedulerOptions) => {
      const notes = notesOnFlags(command, ORIGINAL);
      const config = { ...schedulerConfig(options, command), flags: flagValues(command) };
      await runUntilSignalled(
        notes,
        (environment, signal) => runStandaloneScheduler(config, environment, signal),
        loggingFrom(options),
      );
    });
  const own = componentOptions({ name: "kube-scheduler", port: 10259 });
  for (const option of [...own, ...loggingOptions(), ...featureOptions(), ...originalFlags(ORIGINAL)])
    command.addOption(option);
  command.addHelpText("after", helpOnFlags(ORIGINAL));
  return command;
}

/** The configuration file may name the kubeconfig and configure leader election; flags override it. */
export function schedulerConfig(options: SchedulerOptions, command: Command): StandaloneSchedulerConfig {
  const { config, kubeconfig, podMaxInUnschedulablePodsDuration: parkedMs } = options;
  const own = parkedMs === undefined ? {} : { parkedMs };
  const features = featuresFrom(options);
  if (config === undefined) return { ...componentFrom(options), ...own, features };
  const { kubeconfig: _, ...component } = componentFrom({ ...options, kubeconfig: "", leaderElect: false });
  return {
    ...component,
    ...own,
    features,
    kubeconfig,
    configFile: config,
    electionFlags: electionFlags(options, command),
  };
}

/** Those that were given. */
function electionFlags(
  options: SchedulerOptions,
  command: Command,
): NonNullable<StandaloneSchedulerConfig["electionFlags"]> {
  const given = (name: keyof SchedulerOptions) => command.getOptionValueSource(name) === "cli";
  return {
    ...(given("leaderElect") && { leaderElect: options.leaderElect }),
    ...(given("leaderElectLeaseDuration") && { leaseDurationMs: options.leaderElectLeaseDuration }),
    ...(given("leaderElectRenewDeadline") && { renewDeadlineMs: options.leaderElectRenewDeadline }),
    ...(given("leaderElectRetryPeriod") && { retryPeriodMs: options.leaderElectRetryPeriod }),
    ...(given("leaderElectResourceName") && { resourceName: options.leaderElectResourceName }),
    ...(given("leaderElectResourceNamespace") && { resourceNamespace: options.leaderElectResourceNamespace }),
  };
}
