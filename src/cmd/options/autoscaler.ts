/** kube-controller-manager's flags about HorizontalPodAutoscalers; those of `up` also about usage. */
import { InvalidArgumentError, Option } from "commander";
import type { ClusterConfig, StandaloneControllerManagerConfig } from "#cluster";
import { milliseconds, wholeNumber } from "./values.ts";

export interface AutoscalerFlagOptions {
  readonly horizontalPodAutoscalerSyncPeriod?: number;
  readonly horizontalPodAutoscalerTolerance?: number;
  readonly horizontalPodAutoscalerDownscaleStabilization?: number;
  readonly horizontalPodAutoscalerCpuInitializationPeriod?: number;
  readonly horizontalPodAutoscalerInitialReadinessDelay?: number;
  readonly concurrentHorizontalPodAutoscalerSyncs?: number;
}

export function autoscalerFlags(): readonly Option[] {
  const duration = (name: string, description: string) =>
    new Option(`--${name} <duration>`, description).argParser(milliseconds);
  return [
    duration("horizontal-pod-autoscaler-sync-period", "time between two looks at an autoscaler (default: 15s)"),
    new Option(
      "--horizontal-pod-autoscaler-tolerance <part>",
      "how far usage may be from its target without an effect (default: 0.1)",
    ).argParser(part),
    duration(
      "horizontal-pod-autoscaler-downscale-stabilization",
      "time for which a higher recommendation holds back a lower one (default: 5m)",
    ),
    duration(
      "horizontal-pod-autoscaler-cpu-initialization-period",
      "time after the start of a Pod in which its CPU counts only if it is ready (default: 5m)",
    ),
    duration(
      "horizontal-pod-autoscaler-initial-readiness-delay",
      "time after the start of a Pod in which changes of readiness are taken for its first (default: 30s)",
    ),
    new Option(
      "--concurrent-horizontal-pod-autoscaler-syncs <number>",
      "autoscalers that are looked at at once (default: 5)",
    ).argParser(wholeNumber(1, 1000)),
  ];
}

export function autoscalerFrom(
  options: AutoscalerFlagOptions,
): NonNullable<StandaloneControllerManagerConfig["autoscaler"]> {
  const given = {
    syncPeriodMs: options.horizontalPodAutoscalerSyncPeriod,
    tolerance: options.horizontalPodAutoscalerTolerance,
    downscaleStabilizationMs: options.horizontalPodAutoscalerDownscaleStabilization,
    cpuInitializationMs: options.horizontalPodAutoscalerCpuInitializationPeriod,
    initialReadinessDelayMs: options.horizontalPodAutoscalerInitialReadinessDelay,
    workers: options.concurrentHorizontalPodAutoscalerSyncs,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function part(value: string): number {
  const number = Number(value);
  if (value.trim() === "" || !(number >= 0 && number < Number.POSITIVE_INFINITY))
    throw new InvalidArgumentError("It must be a number that is not negative.");
  return number;
}

export interface UsageFlagOptions extends AutoscalerFlagOptions {
  readonly metricsServer?: boolean;
  readonly metricResolution?: number;
}

const LEAST_MS = 1_000;

/** Of `up`. */
export function usageFlags(): readonly Option[] {
  return [
    new Option(
      "--metrics-server",
      "serve metrics.k8s.io, for kubectl top and autoscalers (default: yes, if there are nodes)",
    ),
    new Option("--no-metrics-server", "do not serve metrics.k8s.io; another metrics-server does"),
    new Option(
      "--metric-resolution <duration>",
      "time between two measurements of nodes and Pods, at least 1s (default: 15s)",
    ).argParser(resolution),
    ...autoscalerFlags(),
  ];
}

export function usageFrom(
  options: UsageFlagOptions,
): Pick<ClusterConfig, "metricsServer" | "metricResolutionMs" | "autoscaler"> {
  const { metricsServer, metricResolution } = options;
  return { metricsServer, metricResolutionMs: metricResolution, autoscaler: autoscalerFrom(options) };
}

/** The metrics-server of Kubernetes wants 10 s: kubelets there measure so rarely. */
function resolution(value: string): number {
  const ms = milliseconds(value);
  if (ms < LEAST_MS) throw new InvalidArgumentError("It must be at least 1s.");
  return ms;
}
