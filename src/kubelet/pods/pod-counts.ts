/** How many Pods and containers the kubelet has, in which states: counted when somebody asks. */
import type { core } from "#api";
import type { MetricsRegistry } from "#base";
import { isStatic } from "./pod-metrics.ts";
import type { PodWorkers } from "./pod-workers.ts";

const LIFECYCLES = { syncing: "sync", terminating: "terminating", terminated: "terminated" } as const;

export interface PodCountsSource {
  readonly workers: Pick<PodWorkers, "list" | "active">;
  /** The mirrors in the API. */
  readonly mirrors: () => readonly core.Pod[];
}

export function countPods(metrics: MetricsRegistry, { workers, mirrors }: PodCountsSource): void {
  const desired = metrics.gauge({
    name: "kubelet_desired_pods",
    help: "The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.",
    labels: ["static"],
  });
  const active = metrics.gauge({
    name: "kubelet_active_pods",
    help: "The number of pods that count when new pods are admitted. static is true if the pod is not from the apiserver.",
    labels: ["static"],
  });
  const mirrored = metrics.gauge({
    name: "kubelet_mirror_pods",
    help: "The number of mirror pods the kubelet will try to create (one per admitted static pod)",
  });
  const working = metrics.gauge({
    name: "kubelet_working_pods",
    help: "Number of pods the kubelet has, by their state, whether they are still wanted, and whether they are static.",
    labels: ["lifecycle", "config", "static"],
  });
  const ephemeral = metrics.gauge({
    name: "kubelet_managed_ephemeral_containers",
    help: "Current number of ephemeral containers in pods managed by this kubelet.",
  });
  metrics.collect(() => {
    const all = workers.list();
    const pods = all.filter(({ isRemoved }) => !isRemoved).map(({ pod }) => pod);
    for (const isStaticPod of [true, false]) {
      const count = (some: readonly core.Pod[]) => some.filter((pod) => isStatic(pod) === isStaticPod).length;
      const own = isStaticPod ? "true" : "";
      desired.labels(own).set(count(pods));
      active.labels(own).set(count(workers.active()));
      for (const [state, lifecycle] of Object.entries(LIFECYCLES))
        for (const [config, wanted] of [
          ["desired", false],
          ["orphan", true],
        ] as const) {
          const some = all.filter((each) => each.state === state && each.isRemoved === wanted);
          working.labels(lifecycle, config, own).set(count(some.map(({ pod }) => pod)));
        }
    }
    mirrored.labels().set(mirrors().length);
    ephemeral.labels().set(pods.reduce((sum, { spec }) => sum + (spec?.ephemeralContainers?.length ?? 0), 0));
  });
}
