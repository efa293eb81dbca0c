/** What Pods request of a resource: the whole to which utilization is a part. */
import { type core, parseQuantity, podRequests, scaledValue } from "#api";
import type { Computed } from "./samples.ts";

const MILLI = -3;

/**
 * By the Pod's name, in thousandths. `container`: of this one alone. With `podLevel`, requests of the Pod itself go
 * before those of its containers.
 */
export function requestsOf(
  pods: readonly core.Pod[],
  resource: string,
  container: string,
  podLevel: boolean,
): Computed<ReadonlyMap<string, bigint>> {
  const requests = new Map<string, bigint>();
  for (const pod of pods) {
    const usesPodLevel = podLevel && container === "" && hasPodLevelRequests(pod);
    const request = usesPodLevel ? podLevelRequest(pod, resource) : containersRequest(pod, resource, container);
    if (!request.ok) return request;
    requests.set(pod.metadata.name ?? "", request.value);
  }
  return { ok: true, value: requests };
}

function hasPodLevelRequests({ spec }: core.Pod): boolean {
  return Object.keys(spec?.resources?.requests ?? {}).some(
    (name) => name === "cpu" || name === "memory" || name.startsWith("hugepages-"),
  );
}

function podLevelRequest(pod: core.Pod, resource: string): Computed<bigint> {
  const request = podRequests(pod)[resource];
  if (request === undefined)
    return { ok: false, error: `missing pod-level request for ${resource} in Pod ${pod.metadata.name}` };
  return { ok: true, value: scaledValue(request, MILLI) };
}

function containersRequest({ metadata, spec }: core.Pod, resource: string, only: string): Computed<bigint> {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const counted = [...(spec?.containers ?? []), ...sidecars].filter(({ name }) => only === "" || name === only);
  if (only !== "" && counted.length === 0)
    return { ok: false, error: `container ${only} not found in Pod ${metadata.name}` };
  let sum = 0n;
  for (const { name, resources } of counted) {
    const request = resources?.requests?.[resource];
    if (request === undefined)
      return { ok: false, error: `missing request for ${resource} in container ${name} of Pod ${metadata.name}` };
    sum += scaledValue(parseQuantity(request), MILLI);
  }
  return { ok: true, value: sum };
}
