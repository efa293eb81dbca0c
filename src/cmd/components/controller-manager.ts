/**
 * `k8ts controller-manager`: the controllers in their own process, with the flags of kube-controller-manager. Several
 * may run; the elected leader works.
 */
import { Command, Option } from "commander";
import { runStandaloneControllerManager, type StandaloneControllerManagerConfig } from "#cluster";
import { type AutoscalerFlagOptions, autoscalerFlags, autoscalerFrom } from "../options/autoscaler.ts";
import { type ComponentOptions, componentFrom, componentOptions } from "../options/component.ts";
import { controllersOption } from "../options/controllers.ts";
import { type FeatureOptions, featureOptions, featuresFrom } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LimitFlagOptions, limitFlags, limitsFrom } from "../options/limits.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type NodeFlagOptions, nodeFlags, nodeFlagsFrom } from "../options/node-lifecycle.ts";
import { type SigningFlagOptions, signingFlags, signingFrom } from "../options/signing.ts";
import {
  helpOnFlags,
  IDLE_IN_COMPONENTS,
  names,
  notesOnFlags,
  type OriginalFlags,
  originalFlags,
} from "../options/upstream-flags.ts";
import { boolean } from "../options/values.ts";
import { type VolumeFlagOptions, volumeFlags, volumeFlagsFrom } from "../options/volumes.ts";
import { runUntilSignalled } from "../process/run-component.ts";

export interface ControllerManagerOptions
  extends ComponentOptions,
    NodeFlagOptions,
    VolumeFlagOptions,
    AutoscalerFlagOptions,
    SigningFlagOptions,
    LimitFlagOptions,
    LoggingFlagOptions,
    FeatureOptions {
  readonly controllers?: readonly string[];
  readonly rootCaFile?: string;
  readonly serviceAccountPrivateKeyFile?: string;
  readonly useServiceAccountCredentials: boolean;
}

const ORIGINAL: OriginalFlags = {
  component: "this controller manager",
  withoutEffect: {
    ...IDLE_IN_COMPONENTS,
    "each controller has as many workers as it needs in one process": names(`
      concurrent-deployment-syncs concurrent-replicaset-syncs concurrent-rc-syncs concurrent-statefulset-syncs
      concurrent-daemonset-syncs concurrent-job-syncs concurrent-cron-job-syncs concurrent-endpoint-syncs
      concurrent-service-endpoint-syncs concurrent-service-syncs concurrent-gc-syncs concurrent-namespace-syncs
      concurrent-resource-quota-syncs concurrent-serviceaccount-token-syncs concurrent-ttl-after-finished-syncs
      concurrent-ephemeralvolume-syncs concurrent-validating-admission-policy-status-syncs
      concurrent-resource-claim-syncs concurrent-device-taint-eviction-syncs concurrent-service-cidr-syncs
      mirroring-concurrent-service-endpoint-syncs`),
    "controllers follow watches, and look again only when something is due": names(`
      min-resync-period controller-start-interval namespace-sync-period resource-quota-sync-period
      pvclaimbinder-sync-period node-sync-period attach-detach-reconcile-sync-period
      disable-attach-detach-reconcile-sync`),
    "changes of Pods are joined while a Service waits for its turn": names(`
      endpoint-updates-batch-period endpointslice-updates-batch-period
      mirroring-endpointslice-updates-batch-period`),
    "there are no volumes of host paths to provision, no flex volumes, and no recycler": names(`
      enable-hostpath-provisioner flex-volume-plugin-dir pv-recycler-increment-timeout-nfs
      pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs
      pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs
      pv-recycler-timeout-increment-hostpath`),
    "clouds have a controller manager of their own": names(`
      cluster-name cidr-allocator-type configure-cloud-routes route-reconciliation-period
      enable-leader-migration leader-migration-config`),
  },
  refused: names(`
    tls-sni-cert-key cloud-provider cloud-config external-cloud-volume-plugin`),
  fixed: { "enable-garbage-collector": "true" },
};

export function controllerManagerCommand(): Command {
  const command = new Command("controller-manager")
    .alias("kube-controller-manager")
    .description("run only the controllers, with the flags of kube-controller-manager")
    .addOption(controllersOption())
    .option("--root-ca-file <file>", "CA bundle published to Pods; default: that of the kubeconfig")
    .option("--service-account-private-key-file <file>", "key for signing service account tokens in Secrets")
    .addOption(
      new Option("--use-service-account-credentials [bool]", "run each controller with its own service account")
        .preset("true")
        .argParser(boolean)
        .default(false),
    )
    .action(async (options: ControllerManagerOptions) => {
      const notes = notesOnFlags(command, ORIGINAL);
      const config = { ...controllerManagerConfig(options), flags: flagValues(command) };
      await runUntilSignalled(
        notes,
        (environment, signal) => runStandaloneControllerManager(config, environment, signal),
        loggingFrom(options),
      );
    });
  const own = componentOptions({ name: "kube-controller-manager", port: 10257 });
  for (const option of [
    ...own,
    ...nodeFlags(),
    ...volumeFlags(),
    ...autoscalerFlags(),
    ...signingFlags(),
    ...limitFlags(),
    ...loggingOptions(),
    ...featureOptions(),
    ...originalFlags(ORIGINAL),
  ])
    command.addOption(option);
  command.addHelpText("after", helpOnFlags(ORIGINAL));
  return command;
}

export function controllerManagerConfig(options: ControllerManagerOptions): StandaloneControllerManagerConfig {
  const { controllers, rootCaFile, serviceAccountPrivateKeyFile, useServiceAccountCredentials } = options;
  return {
    ...componentFrom(options),
    features: featuresFrom(options),
    ...nodeFlagsFrom(options),
    ...volumeFlagsFrom(options),
    autoscaler: autoscalerFrom(options),
    useServiceAccountCredentials,
    selection: controllers,
    rootCaFile,
    signing: signingFrom(options),
    limits: limitsFrom(options),
    serviceAccountKeyFile: serviceAccountPrivateKeyFile,
  };
}
