/**
 * Metrics of Pods on their way: from the kubelet's first sight of a Pod to its start, each sync, and its status in the
 * API.
 *
 * 1. A Pod's start is measured once, and only of Pods that this kubelet has seen before they ran.
 * 2. The SLI leaves out image pulls and init containers, and Pods that mount volumes with a life of their own.
 */
import type { core } from "#api";
import type { Clock, MetricsRegistry } from "#base";
import { exponential, SECONDS } from "../runtime/buckets.ts";

export type SyncKind = "create" | "update" | "sync" | "kill";
export type ContainerRole = "init" | "regular" | "ephemeral";

export interface PodMetrics {
  seen(pod: core.Pod): void;
  /** Its worker begins with its first sync. */
  started(pod: core.Pod): void;
  synced(kind: SyncKind, seconds: number): void;
  /** A status has been computed. */
  reported(pod: core.Pod, status: core.PodStatus): void;
  statusWritten(seconds: number): void;
  containerStarted(role: ContainerRole): void;
  containerFailed(role: ContainerRole, reason: string): void;
  imagePulled(pod: core.Pod, fromMs: number, toMs: number): void;
  rejected(reason: string): void;
  orphaned(): void;
  /** The orphaned Pods of one sweep. */
  swept(cleaned: number, failed: number): void;
  gone(uid: string): void;
}

interface Start {
  readonly seenMs: number;
  hasStarted: boolean;
  pullingMs: number;
}

const START_SECONDS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
const STATUS_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60];
const TYPES: Readonly<Record<ContainerRole, string>> = {
  init: "init_container",
  regular: "container",
  ephemeral: "ephemeral_container",
};

export function podMetrics(metrics: MetricsRegistry, clock: Clock): PodMetrics {
  const starts = new Map<string, Start>();
  const families = podFamilies(metrics);
  let hasNetworkStarted = false;

  const running = (pod: core.Pod, status: core.PodStatus, start: Start) => {
    const nowMs = clock.now();
    families.start.labels().observe((nowMs - start.seenMs) / 1000);
    const createdMs = Date.parse(pod.metadata.creationTimestamp ?? "");
    if (Number.isNaN(createdMs) || isStatic(pod) || hasOwnVolumes(pod)) return;
    families.total.labels().observe((nowMs - createdMs) / 1000);
    const sli = (nowMs - createdMs - start.pullingMs - initMs(status)) / 1000;
    families.sli.labels().observe(Math.max(0, sli));
    if (pod.spec?.hostNetwork === true || hasNetworkStarted) return;
    hasNetworkStarted = true;
    families.firstNetwork.labels().set(Math.max(0, sli));
  };

  return {
    seen({ metadata: { uid = "" }, status }) {
      const hasStarted = status?.phase !== undefined && status.phase !== "Pending";
      if (!starts.has(uid)) starts.set(uid, { seenMs: clock.now(), hasStarted, pullingMs: 0 });
    },
    started({ metadata: { uid = "" }, spec }) {
      const start = starts.get(uid);
      if (start !== undefined) families.workerStart.labels().observe((clock.now() - start.seenMs) / 1000);
      families.containers.labels().observe(spec?.containers?.length ?? 0);
    },
    synced: (kind, seconds) => families.worker.labels(kind).observe(seconds),
    reported(pod, status) {
      const start = starts.get(pod.metadata.uid ?? "");
      if (start === undefined || start.hasStarted || status.phase !== "Running") return;
      if (!(status.containerStatuses ?? []).every(({ state }) => state?.running !== undefined)) return;
      start.hasStarted = true;
      running(pod, status, start);
    },
    statusWritten: (seconds) => families.status.labels().observe(seconds),
    containerStarted: (role) => families.startedContainers.labels(TYPES[role]).inc(),
    containerFailed: (role, reason) => families.failedContainers.labels(TYPES[role], reason).inc(),
    imagePulled({ metadata: { uid = "" } }, fromMs, toMs) {
      const start = starts.get(uid);
      if (start !== undefined) start.pullingMs += toMs - fromMs;
    },
    rejected: (reason) => families.rejections.labels(reason).inc(),
    orphaned: () => families.orphans.labels().inc(),
    swept(cleaned, failed) {
      families.cleaned.labels().set(cleaned);
      families.notCleaned.labels().set(failed);
    },
    gone: (uid) => void starts.delete(uid),
  };
}

function podFamilies(metrics: MetricsRegistry) {
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name: `kubelet_${name}`, help, buckets });
  const gauge = (name: string, help: string) => metrics.gauge({ name: `kubelet_${name}`, help });
  return {
    containers: histogram("containers_per_pod_count", "The number of containers per pod.", exponential(1, 2, 5)),
    worker: metrics.histogram({
      name: "kubelet_pod_worker_duration_seconds",
      help: "Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync",
      labels: ["operation_type"],
      buckets: SECONDS,
    }),
    workerStart: histogram(
      "pod_worker_start_duration_seconds",
      "Duration in seconds from kubelet seeing a pod to starting a worker.",
      SECONDS,
    ),
    start: histogram(
      "pod_start_duration_seconds",
      "Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run",
      START_SECONDS,
    ),
    sli: histogram(
      "pod_start_sli_duration_seconds",
      "Duration in seconds from the creation of a pod to all its containers running, without pulls and init containers",
      START_SECONDS,
    ),
    total: histogram(
      "pod_start_total_duration_seconds",
      "Duration in seconds from the creation of a pod to all its containers running",
      START_SECONDS,
    ),
    firstNetwork: gauge(
      "first_network_pod_start_sli_duration_seconds",
      "Duration in seconds to start the first network pod, without pulls and init containers",
    ),
    status: histogram(
      "pod_status_sync_duration_seconds",
      "Duration in seconds from a change of a pod's status until the API has it.",
      STATUS_SECONDS,
    ),
    startedContainers: metrics.counter({
      name: "kubelet_started_containers_total",
      help: "Cumulative number of containers started",
      labels: ["container_type"],
    }),
    failedContainers: metrics.counter({
      name: "kubelet_started_containers_errors_total",
      help: "Cumulative number of errors when starting containers",
      labels: ["container_type", "code"],
    }),
    rejections: metrics.counter({
      name: "kubelet_admission_rejections_total",
      help: "Cumulative number pod admission rejections by the Kubelet.",
      labels: ["reason"],
    }),
    orphans: metrics.counter({
      name: "kubelet_orphaned_runtime_pods_total",
      help: "Number of pods that have been detected in the container runtime without being already known to the pod worker.",
    }),
    cleaned: gauge(
      "orphan_pod_cleaned_volumes",
      "The total number of orphaned Pods whose volumes were cleaned in the last periodic sweep.",
    ),
    notCleaned: gauge(
      "orphan_pod_cleaned_volumes_errors",
      "The number of orphaned Pods whose volumes failed to be cleaned in the last periodic sweep.",
    ),
  };
}

export function isStatic({ metadata }: core.Pod): boolean {
  const source = metadata.annotations?.["kubernetes.io/config.source"];
  return source !== undefined && source !== "api";
}

/** As upstream: a Pod is stateless if its volumes are made for it by the kubelet. */
const STATELESS = ["configMap", "downwardAPI", "emptyDir", "image", "projected", "secret"] as const;

function hasOwnVolumes({ spec }: core.Pod): boolean {
  return (spec?.volumes ?? []).some((volume) => !STATELESS.some((kind) => volume[kind] !== undefined));
}

/** How long init containers ran. */
function initMs({ initContainerStatuses = [] }: core.PodStatus): number {
  return initContainerStatuses.reduce((sum, { state }) => {
    const { startedAt = "", finishedAt = "" } = state?.terminated ?? {};
    const tookMs = Date.parse(finishedAt) - Date.parse(startedAt);
    return Number.isNaN(tookMs) ? sum : sum + tookMs;
  }, 0);
}
