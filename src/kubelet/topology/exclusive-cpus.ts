/** Which containers get CPUs for themselves: those of Guaranteed Pods that ask for whole CPUs. Pure. */
import { type core, parseQuantity, qosClassOf, scaledValue } from "#api";

/** 0: it shares the CPUs that nobody has for itself. */
export function exclusiveCpus(pod: core.Pod, { resources }: Pick<core.Container, "resources">): number {
  if (qosClassOf(pod) !== "Guaranteed" || hasPodLevelCpus(pod)) return 0;
  const request = resources?.requests?.cpu ?? resources?.limits?.cpu;
  if (request === undefined) return 0;
  const milli = Number(scaledValue(parseQuantity(request), -3));
  return milli % 1000 === 0 ? milli / 1000 : 0;
}

/** What is shared by a whole Pod is not handed out to one of its containers. */
export function hasPodLevelCpus({ spec }: core.Pod): boolean {
  return spec?.resources?.requests !== undefined || spec?.resources?.limits !== undefined;
}

/** The most at a time: of its init containers one after the other, beside sidecars, or of all containers together. */
export function exclusiveCpusOfPod(pod: core.Pod): number {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  let [sidecars, starting] = [0, 0];
  for (const container of initContainers) {
    const cpus = exclusiveCpus(pod, container);
    if (container.restartPolicy === "Always") sidecars += cpus;
    starting = Math.max(starting, sidecars + (container.restartPolicy === "Always" ? 0 : cpus));
  }
  return Math.max(starting, sidecars + containers.reduce((sum, container) => sum + exclusiveCpus(pod, container), 0));
}

/** In the order in which they start. */
export function containersOf({ spec }: core.Pod): readonly core.Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

/** An init container that ends before the others start: they may have what it had. */
export function endsBeforeOthers({ spec }: core.Pod, { name }: core.Container): boolean {
  return (spec?.initContainers ?? []).some((each) => each.name === name && each.restartPolicy !== "Always");
}
