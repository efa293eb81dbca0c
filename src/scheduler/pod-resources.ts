/** `/metrics/resources`: requests and limits of pods, as the scheduler counts them. Ended pods are left out. */
import { type core, podLimits, podRequests } from "#api";
import { MetricsRegistry } from "#base";

const LABELS = ["namespace", "pod", "node", "scheduler", "priority", "resource", "unit"] as const;

export function podResourcesText(pods: Iterable<core.Pod>): string {
  const registry = new MetricsRegistry();
  const requests = registry.gauge({
    name: "kube_pod_resource_request",
    help: "Resource requests of pods, as the scheduler counts them",
    labels: LABELS,
    stability: "STABLE",
  });
  const limits = registry.gauge({
    name: "kube_pod_resource_limit",
    help: "Resource limits of pods, as the scheduler counts them",
    labels: LABELS,
    stability: "STABLE",
  });
  for (const pod of pods) {
    if (hasEnded(pod)) continue;
    for (const [family, totals] of [
      [requests, podRequests(pod)],
      [limits, podLimits(pod)],
    ] as const) {
      for (const [resource, { unscaled, scale }] of Object.entries(totals)) {
        const amount = scale < 0 ? Number(unscaled) / 10 ** -scale : Number(unscaled) * 10 ** scale;
        if (amount !== 0) family.labels(...labelsOf(pod, resource)).set(amount);
      }
    }
  }
  return registry.text();
}

function hasEnded({ spec, status }: core.Pod): boolean {
  return (spec?.nodeName ?? "") !== "" && (status?.phase === "Succeeded" || status?.phase === "Failed");
}

function labelsOf({ metadata, spec }: core.Pod, resource: string) {
  return [
    metadata.namespace ?? "",
    metadata.name ?? "",
    spec?.nodeName ?? "",
    spec?.schedulerName ?? "",
    spec?.priority === undefined ? "" : String(spec.priority),
    resource,
    unitOf(resource),
  ] as const;
}

function unitOf(resource: string): string {
  if (resource === "cpu") return "cores";
  const isBytes = resource === "memory" || resource === "storage" || resource === "ephemeral-storage";
  return isBytes || resource.startsWith("hugepages-") ? "bytes" : "integer";
}
