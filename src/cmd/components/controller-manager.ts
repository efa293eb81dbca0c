/**
 * `k8ts controller-manager`: the controllers in their own process, with the flags of kube-controller-manager. Several
 * may run; the elected leader works.
 */
import { Command, Option } from "commander";
import { ClusterError, runStandaloneControllerManager, type StandaloneControllerManagerConfig } from "#cluster";
import { type AutoscalerFlagOptions, autoscalerFlags, autoscalerFrom } from "../options/autoscaler.ts";
import { type ComponentOptions, componentFrom, componentOptions } from "../options/component.ts";
import { controllersOption } from "../options/controllers.ts";
import { type FeatureOptions, featureOptions, featuresFrom } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type NodeFlagOptions, nodeFlags, nodeFlagsFrom } from "../options/node-lifecycle.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { boolean, milliseconds } from "../options/values.ts";
import { type VolumeFlagOptions, volumeFlags, volumeFlagsFrom } from "../options/volumes.ts";
import { runUntilSignalled } from "../process/run-component.ts";

const YEAR_MS = 8760 * 3_600_000;

export interface ControllerManagerOptions
  extends ComponentOptions,
    NodeFlagOptions,
    VolumeFlagOptions,
    AutoscalerFlagOptions,
    LoggingFlagOptions,
    FeatureOptions {
  readonly controllers?: readonly string[];
  readonly rootCaFile?: string;
  readonly clusterSigningCertFile?: string;
  readonly clusterSigningKeyFile?: string;
  readonly clusterSigningDuration: number;
  readonly serviceAccountPrivateKeyFile?: string;
  readonly useServiceAccountCredentials: boolean;
}

const ORIGINAL: OriginalFlags = {
  component: "this controller manager",
  withoutEffect: names(`
    profiling contention-profiling emulation-forward-compatible
    cert-dir http2-max-streams-per-connection disable-http2-serving permit-address-sharing permit-port-sharing
    authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure
    authorization-kubeconfig authorization-always-allow-paths authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl client-ca-file requestheader-client-ca-file requestheader-allowed-names
    requestheader-username-headers requestheader-uid-headers requestheader-group-headers requestheader-extra-headers-prefix
    kube-api-qps kube-api-burst kube-api-content-type min-resync-period controller-start-interval cluster-name
    concurrent-deployment-syncs concurrent-replicaset-syncs concurrent-rc-syncs concurrent-statefulset-syncs concurrent-daemonset-syncs
    concurrent-job-syncs concurrent-cron-job-syncs concurrent-endpoint-syncs concurrent-service-endpoint-syncs concurrent-service-syncs
    concurrent-gc-syncs concurrent-namespace-syncs concurrent-resource-quota-syncs concurrent-serviceaccount-token-syncs
    concurrent-ttl-after-finished-syncs concurrent-ephemeralvolume-syncs
    concurrent-validating-admission-policy-status-syncs concurrent-resource-claim-syncs concurrent-device-taint-eviction-syncs
    concurrent-service-cidr-syncs mirroring-concurrent-service-endpoint-syncs mirroring-endpointslice-updates-batch-period
    mirroring-max-endpoints-per-subset endpoint-updates-batch-period endpointslice-updates-batch-period max-endpoints-per-slice
    namespace-sync-period resource-quota-sync-period pvclaimbinder-sync-period node-sync-period
    legacy-service-account-token-clean-up-period attach-detach-reconcile-sync-period disable-attach-detach-reconcile-sync
    enable-hostpath-provisioner flex-volume-plugin-dir
    pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs
    pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath
    terminated-pod-gc-threshold cidr-allocator-type configure-cloud-routes route-reconciliation-period enable-leader-migration
    leader-migration-config`),
  refused: names(`
    tls-sni-cert-key cloud-provider cloud-config external-cloud-volume-plugin
    cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file
    cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file
    cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file
    cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file`),
  fixed: { "enable-garbage-collector": "true" },
};

export function controllerManagerCommand(): Command {
  const command = new Command("controller-manager")
    .alias("kube-controller-manager")
    .description("run only the controllers, with the flags of kube-controller-manager")
    .addOption(controllersOption())
    .option("--root-ca-file <file>", "CA bundle published to Pods; default: that of the kubeconfig")
    .option("--cluster-signing-cert-file <file>", "CA certificate for signing CertificateSigningRequests")
    .option("--cluster-signing-key-file <file>", "private key of that certificate")
    .addOption(
      new Option("--cluster-signing-duration <duration>", "maximum lifetime of signed certificates")
        .argParser(milliseconds)
        .default(YEAR_MS, "8760h"),
    )
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
    ...loggingOptions(),
    ...featureOptions(),
    ...originalFlags(ORIGINAL),
  ])
    command.addOption(option);
  return command;
}

export function controllerManagerConfig(options: ControllerManagerOptions): StandaloneControllerManagerConfig {
  const { controllers, rootCaFile, serviceAccountPrivateKeyFile, useServiceAccountCredentials } = options;
  const { clusterSigningCertFile: certFile, clusterSigningKeyFile: keyFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new ClusterError(
      "--cluster-signing-cert-file and --cluster-signing-key-file belong together: give both or none.",
    );
  }
  return {
    ...componentFrom(options),
    features: featuresFrom(options),
    ...nodeFlagsFrom(options),
    ...volumeFlagsFrom(options),
    autoscaler: autoscalerFrom(options),
    useServiceAccountCredentials,
    selection: controllers,
    rootCaFile,
    ...(certFile !== undefined &&
      keyFile !== undefined && { signing: { certFile, keyFile, durationMs: options.clusterSigningDuration } }),
    serviceAccountKeyFile: serviceAccountPrivateKeyFile,
  };
}
