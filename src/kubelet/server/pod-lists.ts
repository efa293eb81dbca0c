/** GET /pods and /runningpods: the Pods of the kubelet, and those in the runtime. */
import type { core } from "#api";
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID } from "../containers/index.ts";
import type { Container } from "../runtime/runtime.ts";
import type { Served } from "./served.ts";

export function podList(items: readonly core.Pod[]): object {
  return { kind: "PodList", apiVersion: "v1", metadata: {}, items };
}

/** From the runtime alone: names and images. */
export async function runningPods({ kubelet }: Served, signal: AbortSignal): Promise<object> {
  const pods = new Map<string, { readonly pod: core.Pod; readonly containers: Container[] }>();
  for (const container of await kubelet.runtime.listContainers({}, signal)) {
    if (container.state !== "running") continue;
    const { [POD_NAME]: name = "", [POD_NAMESPACE]: namespace = "", [POD_UID]: uid = "" } = container.labels;
    const found = pods.get(uid) ?? { pod: { metadata: { name, namespace, uid } }, containers: [] };
    found.containers.push(container);
    pods.set(uid, found);
  }
  return podList(
    [...pods.values()].map(({ pod, containers }) => ({
      ...pod,
      spec: {
        containers: containers.map(({ labels, image, metadata }) => ({
          name: labels[CONTAINER_NAME] ?? metadata.name,
          image,
        })),
      },
    })),
  );
}
