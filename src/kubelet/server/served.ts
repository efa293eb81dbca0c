/** What the server needs of the kubelet that it speaks for. */
import type { core } from "#api";
import type { Clock, Logger, MetricsRegistry } from "#base";
import type { Kubelet } from "../kubelet.ts";
import { Refusal } from "./exchange.ts";

export type ServedKubelet = Pick<Kubelet, "config" | "runtime" | "client" | "pods" | "pod" | "container" | "problem">;

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
