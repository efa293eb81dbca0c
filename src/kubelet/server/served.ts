/** What the server needs of its kubelet. */
import type { core } from "#api";
import type { Clock, Logger, MetricsRegistry } from "#base";
import type { Client } from "#client";
import type { KubeletConfig } from "../config/index.ts";
import type { OngoingPull } from "../images/index.ts";
import type { ContainerStatus, Runtime } from "../runtime/runtime.ts";
import type { VolumeUsage } from "../volumes/index.ts";
import { type Answer, Refusal } from "./exchange.ts";

export interface ServedKubelet {
  readonly config: KubeletConfig;
  readonly runtime: Runtime;
  readonly client: Client;
  /** All Pods of the node, with the newest status. */
  pods(): readonly core.Pod[];
  pod(namespace: string, name: string): core.Pod | undefined;
  /** The newest instance of a container; with `previous` the one before it. */
  container(
    pod: core.Pod,
    name: string,
    options?: { readonly previous?: boolean; readonly signal?: AbortSignal },
  ): Promise<ContainerStatus | undefined>;
  /** What the volumes of a Pod have and use, as far as it is known. Absent where there are none. */
  volumes?(pod: core.Pod, signal: AbortSignal): Promise<readonly VolumeUsage[]>;
  /** Images that are being pulled. */
  pulls?(signal: AbortSignal): Promise<readonly OngoingPull[]>;
  /** Undefined while the runtime and the kubelet are healthy. */
  problem(): string | undefined;
}

export interface Served {
  readonly kubelet: ServedKubelet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly page?: Page | undefined;
}

/** /statusz and /flagz; undefined if there is no such page. */
export type Page = (path: string, accept: string | undefined) => Answer | undefined;

/** The Pod of a path, on this node. */
export function podOf(
  { kubelet }: Pick<Served, "kubelet">,
  namespace = "",
  name = "",
  missing = "pod does not exist",
): core.Pod {
  const pod = kubelet.pod(namespace, name);
  if (pod === undefined) throw new Refusal(404, missing);
  return pod;
}

export function containerNames({ spec }: core.Pod): readonly string[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
}
