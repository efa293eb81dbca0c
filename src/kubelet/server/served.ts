/** What the server needs of the kubelet that it speaks for. */
import type { core } from "#api";
import type { Clock, Logger, MetricsRegistry } from "#base";
import type { Client } from "#client";
import type { KubeletConfig } from "../config/index.ts";
import type { ContainerStatus, Runtime } from "../runtime/runtime.ts";
import { Refusal } from "./exchange.ts";

export interface ServedKubelet {
  readonly config: KubeletConfig;
  readonly runtime: Runtime;
  readonly client: Client;
  /** Every Pod that the node has, with the newest status. */
  pods(): readonly core.Pod[];
  pod(namespace: string, name: string): core.Pod | undefined;
  /** The newest instance of a container; with `previous` the one before it. */
  container(
    pod: core.Pod,
    name: string,
    options?: { readonly previous?: boolean; readonly signal?: AbortSignal },
  ): Promise<ContainerStatus | undefined>;
  /** Undefined while the runtime and the kubelet itself are well. */
  problem(): string | undefined;
}

export interface Served {
  readonly kubelet: ServedKubelet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** The Pod that a path names, on this node. */
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
