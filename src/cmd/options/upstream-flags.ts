/**
 * Upstream flags that the component here accepts but ignores, and those that it refuses because ignoring them would
 * mislead.
 *
 * 1. A flag without effect is reported in one line; one that others rely on, such as a certificate for a name, is an
 *    error.
 */
import { type Command, Option } from "commander";
import { ClusterError } from "#cluster";

export interface OriginalFlags {
  /** The component's name in messages. */
  readonly component: string;
  /** They tune or describe what this component does differently. */
  readonly withoutEffect: readonly string[];
  /** Ignoring them would be less safe than the user believes, or put something elsewhere. */
  readonly refused: readonly string[];
  /** Flags that accept only their default value. */
  readonly fixed?: Readonly<Record<string, string>>;
}

/** Names, separated by spaces. */
export function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const KUBE_APISERVER: OriginalFlags = {
  component: "this API server",
  withoutEffect: names(`
  v vmodule logging-format log-flush-frequency log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream
  profiling contention-profiling debug-socket-path enable-logs-handler tracing-config-file
  watch-cache watch-cache-sizes default-watch-cache-size delete-collection-workers storage-backend storage-media-type
  etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-readycheck-timeout
  lease-reuse-duration-seconds http2-max-streams-per-connection disable-http2-serving goaway-chance min-request-timeout request-timeout
  shutdown-delay-duration shutdown-send-retry-after shutdown-watch-termination-grace-period livez-grace-period
  max-connection-bytes-per-sec permit-address-sharing permit-port-sharing tls-min-version tls-cipher-suites
  enable-garbage-collector external-hostname apiserver-count endpoint-reconciler-type kubernetes-service-node-port
  identity-lease-duration-seconds identity-lease-renew-interval-seconds peer-advertise-ip peer-advertise-port peer-ca-file
  kubelet-port kubelet-read-only-port enable-aggregator-routing aggregator-reject-forwarding-redirect service-account-lookup
  cors-allowed-origins strict-transport-security-directives feature-gates emulated-version emulation-forward-compatible
  runtime-config-emulation-forward-compatible min-compatibility-version show-hidden-metrics-for-version disabled-metrics
  allow-metric-labels allow-metric-labels-manifest`),
  refused: ["egress-selector-config-file", "etcd-servers-overrides", "tls-sni-cert-key"],
  fixed: { "etcd-prefix": "/registry", "service-node-port-range": "30000-32767" },
};

/** Hidden from --help; values are optional, as some of them are switches. */
export function originalFlags({ withoutEffect, refused, fixed = {} }: OriginalFlags): readonly Option[] {
  return [...withoutEffect, ...refused, ...Object.keys(fixed)].map((name) =>
    (name === "v" ? new Option("-v, --v [level]") : new Option(`--${name} [value]`)).hideHelp(),
  );
}

/** A line for each given flag without effect. Throws ClusterError for refused flags. */
export function notesOnFlags(command: Command, flags: OriginalFlags): readonly string[] {
  const { component, withoutEffect, refused, fixed = {} } = flags;
  return command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .flatMap((option) => {
      const name = option.long?.slice(2) ?? "";
      const value: unknown = command.getOptionValue(option.attributeName());
      if (refused.includes(name)) throw new ClusterError(`--${name} is not supported by ${component}.`);
      const only = fixed[name];
      if (only !== undefined && value !== only) {
        throw new ClusterError(`--${name} is ${only} in ${component}, and cannot be ${String(value)}.`);
      }
      return withoutEffect.includes(name) ? [`--${name} has no effect in ${component}.`] : [];
    });
}
