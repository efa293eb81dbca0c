/** What the kubelet's own server sees of a running kubelet. */
import type { core } from "#api";
import type { PullProgress } from "./images/index.ts";
import type { NodePods } from "./node-pods.ts";
import { lookAtPod, newest } from "./pods/index.ts";
import type { ServedKubelet } from "./server/index.ts";
import type { VolumeUsages } from "./volumes/index.ts";

export interface ServedKubeletOptions extends Pick<ServedKubelet, "config" | "runtime" | "client"> {
  readonly pods: NodePods;
  readonly volumes: Pick<VolumeUsages, "of">;
  readonly pulls?: Pick<PullProgress, "ongoing"> | undefined;
  /** Aborts when the kubelet ends. */
  readonly signal: AbortSignal;
}

export function servedKubelet(options: ServedKubeletOptions): ServedKubelet {
  const { config, runtime, client, pods, volumes, pulls, signal } = options;
  const { workers, status, pleg } = pods;
  return {
    config,
    runtime,
    client,
    pods: () => workers.list().map(({ uid, pod }) => withStatus(pod, status.get(uid))),
    pod(namespace, name) {
      const found = workers
        .list()
        .filter(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name)
        .at(-1);
      return found && withStatus(found.pod, status.get(found.uid));
    },
    async container(pod, name, { previous = false, signal: asking = signal } = {}) {
      const found = await lookAtPod(runtime, pod.metadata.uid ?? "", asking);
      const current = newest(found, name);
      if (!previous) return current;
      return newest({ ...found, containers: found.containers.filter((each) => each !== current) }, name);
    },
    volumes: (pod, asking) => volumes.of(pod, asking),
    pulls: async (asking) => (await pulls?.ongoing(asking)) ?? [],
    problem: () => pleg.problem,
  };
}

function withStatus(pod: core.Pod, status: core.PodStatus | undefined): core.Pod {
  return status === undefined ? pod : { ...pod, status };
}
