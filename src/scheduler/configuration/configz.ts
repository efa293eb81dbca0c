/** `/configz`: the effective configuration, with the field names of Kubernetes. */
import { formatMs, type Json, type JsonObject } from "#api";
import { EXTENSION_POINTS, type ExtenderConfig, type Profile } from "../framework/index.ts";
import type { ReadConfiguration } from "./read-configuration.ts";

export function configz({ scheduler, leaderElection, clientConnection }: ReadConfiguration): JsonObject {
  const { percentageOfNodesToScore, podInitialBackoffSeconds, podMaxBackoffSeconds } = scheduler;
  return {
    componentconfig: {
      LeaderElection: {
        LeaderElect: leaderElection.leaderElect,
        LeaseDuration: formatMs(leaderElection.leaseDurationMs),
        RenewDeadline: formatMs(leaderElection.renewDeadlineMs),
        RetryPeriod: formatMs(leaderElection.retryPeriodMs),
        ResourceLock: "leases",
        ResourceName: leaderElection.resourceName,
        ResourceNamespace: leaderElection.resourceNamespace,
      },
      ClientConnection: {
        Kubeconfig: clientConnection.kubeconfig ?? "",
        QPS: clientConnection.qps,
        Burst: clientConnection.burst,
      },
      PercentageOfNodesToScore: percentageOfNodesToScore ?? null,
      PodInitialBackoffSeconds: podInitialBackoffSeconds,
      PodMaxBackoffSeconds: podMaxBackoffSeconds,
      Profiles: scheduler.profiles.map(profileOf),
      Extenders: scheduler.extenders.map(extenderOf),
    },
  };
}

function profileOf({ schedulerName, percentageOfNodesToScore, plugins, args }: Profile): Json {
  const sets = EXTENSION_POINTS.map((point): [string, Json] => [
    capitalized(point),
    { Enabled: plugins[point].map(({ name, weight }) => ({ Name: name, Weight: weight })), Disabled: null },
  ]);
  return {
    SchedulerName: schedulerName,
    PercentageOfNodesToScore: percentageOfNodesToScore ?? null,
    Plugins: Object.fromEntries(sets),
    PluginConfig: Object.entries(args).map(([Name, each]) => ({ Name, Args: capitalizedKeys(each as Json) })),
  };
}

/** Without keys and certificates. */
function extenderOf(extender: ExtenderConfig): Json {
  return {
    URLPrefix: extender.urlPrefix,
    FilterVerb: extender.filterVerb,
    PreemptVerb: extender.preemptVerb,
    PrioritizeVerb: extender.prioritizeVerb,
    Weight: extender.weight,
    BindVerb: extender.bindVerb,
    EnableHTTPS: extender.tls !== undefined,
    HTTPTimeout: formatMs(extender.timeoutMs),
    NodeCacheCapable: extender.nodeCacheCapable,
    ManagedResources: extender.managedResources.map((each) => capitalizedKeys(each)),
    Ignorable: extender.ignorable,
  };
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function capitalizedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(capitalizedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [capitalized(key), capitalizedKeys(each)]));
}
