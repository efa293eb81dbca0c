/** Waiting states of containers, in upstream's words. */
import { type core, formatMs, goQuote } from "#api";

/** `name_namespace(uid)`, as in the kubelet's messages. */
export function podText({ metadata: { name = "", namespace = "", uid = "" } }: core.Pod): string {
  return `${name}_${namespace}(${uid})`;
}

export function crashLoopBackOff(pod: core.Pod, container: string, backoffMs: number): core.ContainerStateWaiting {
  const wait = formatMs(backoffMs);
  return {
    reason: "CrashLoopBackOff",
    message: `back-off ${wait} restarting failed container=${container} pod=${podText(pod)}`,
  };
}

export function errImagePull(problem: string): core.ContainerStateWaiting {
  return { reason: "ErrImagePull", message: problem };
}

/** `problem`: the last failure, with its reason. */
export function imagePullBackOff(image: string, problem?: string): core.ContainerStateWaiting {
  const because = problem === undefined ? "" : `: ${problem}`;
  return { reason: "ImagePullBackOff", message: `Back-off pulling image ${goQuote(image)}${because}` };
}

/** `Running, 2 of 2 containers ready`. */
export function statusSummary({ phase, containerStatuses = [] }: core.PodStatus): string {
  const ready = containerStatuses.filter((each) => each.ready).length;
  return `${phase}, ${ready} of ${containerStatuses.length} containers ready`;
}
