/** NodeMetrics and PodMetrics (metrics.k8s.io/v1beta1), from what was measured. */
import { formatMs, formatQuantity, formatTime, instantOf, type KubeObject, type Labels, quantityOf } from "#api";
import type { PodUsage } from "../points/storage.ts";
import type { Usage } from "../points/usage.ts";

export const GROUP = "metrics.k8s.io";
export const API_VERSION = `${GROUP}/v1beta1`;

export interface ResourceUsage {
  readonly cpu: string;
  readonly memory: string;
}

interface Measured extends KubeObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly timestamp: string;
  readonly window: string;
}

export interface NodeMetrics extends Measured {
  readonly usage: ResourceUsage;
}

export interface PodMetrics extends Measured {
  readonly containers: readonly { readonly name: string; readonly usage: ResourceUsage }[];
}

export function nodeMetrics(name: string, labels: Labels | undefined, usage: Usage, now: number): NodeMetrics {
  const metadata = { name, ...(labels !== undefined && { labels }), creationTimestamp: timeText(now) };
  return { kind: "NodeMetrics", apiVersion: API_VERSION, metadata, ...timesOf(usage), usage: amounts(usage) };
}

export function podMetrics(
  {
    name,
    namespace,
    labels,
  }: { readonly name: string; readonly namespace: string; readonly labels?: Labels | undefined },
  pod: PodUsage,
  now: number,
): PodMetrics {
  return {
    kind: "PodMetrics",
    apiVersion: API_VERSION,
    metadata: { name, namespace, ...(labels !== undefined && { labels }), creationTimestamp: timeText(now) },
    ...timesOf(pod),
    containers: pod.containers.map((each) => ({ name: each.name, usage: amounts(each.usage) })),
  };
}

function amounts({ cpuNanoCores, memoryBytes }: Usage): ResourceUsage {
  return {
    cpu: formatQuantity(quantityOf(cpuNanoCores, "DecimalSI", -9)),
    memory: formatQuantity(quantityOf(memoryBytes, "BinarySI")),
  };
}

function timesOf({ atMs, windowMs }: { readonly atMs: number; readonly windowMs: number }) {
  return { timestamp: timeText(atMs), window: formatMs(windowMs) };
}

function timeText(ms: number): string {
  return formatTime(instantOf(ms));
}
