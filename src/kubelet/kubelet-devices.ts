/** The devices of a kubelet's node: opened before its Pods, and run with them. */
import { join } from "node:path";
import { type core, defaultFeatures } from "#api";
import { abortable, type TaskGroup } from "#base";
import { type NodeDevices, nodeDevices } from "./devices/index.ts";
import { exclusiveResources } from "./exclusive-resources.ts";
import type { KubeletOptions } from "./kubelet.ts";
import type { Registration } from "./node/index.ts";
import type { NodePods } from "./node-pods.ts";
import { podResourcesMetrics, servePodResources } from "./pod-resources/index.ts";
import { lookAtPod, runningContainers } from "./pods/index.ts";
import type { TopologyManager } from "./topology/index.ts";

/** `parts`: they are there by the time that devices change. */
export function devicesOf(
  { config, runtime, clock, log, metrics, host, features = defaultFeatures }: KubeletOptions,
  parts: () => { readonly registration: Registration; readonly pods: NodePods },
  signal: AbortSignal,
): Promise<NodeDevices> {
  return nodeDevices({
    dir: host === undefined ? config.rootDir : undefined,
    features,
    clock,
    log,
    metrics,
    onAmounts: () => parts().registration.changed(),
    onHealth: (uids) => {
      for (const uid of uids) parts().pods.workers.poke(uid);
    },
    running: async (uid) => runningContainers(await lookAtPod(runtime, uid, signal)),
  });
}

interface StartedDevices {
  readonly devices: NodeDevices;
  readonly pods: NodePods;
  readonly manager: TopologyManager;
  readonly registered: Promise<void>;
  readonly tasks: TaskGroup;
}

export function startDevices(
  { config, clock, log, metrics, host, features = defaultFeatures }: KubeletOptions,
  { devices, pods: { workers, api, parts }, manager, registered, tasks }: StartedDevices,
): void {
  tasks.run("devices", async (signal) => {
    await abortable(api.synced, signal);
    await devices.run((uid) => workers.has(uid), signal);
  });
  tasks.run("device plugins", async (signal) => {
    await abortable(registered, signal);
    await devices.serve(signal);
  });
  if (host !== undefined) return;
  const source = {
    pods: () => workers.active(),
    held: (pod: core.Pod, container: core.Container) => {
      const { devices: own, claims } = parts.devices.held(pod, container);
      return { devices: own, claims: features.enabled("KubeletPodResourcesDynamicResources") ? claims : [] };
    },
    healthyDevices: () => devices.healthyDevices(),
    exclusive: exclusiveResources(manager),
  };
  const dir = join(config.rootDir, "pod-resources");
  const ofApi = podResourcesMetrics(metrics);
  tasks.run("pod resources", (signal) =>
    servePodResources({ source, dir, features, metrics: ofApi, clock, log }, signal),
  );
}
