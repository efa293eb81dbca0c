/**
 * Reads /metrics/resource of a kubelet: the Prometheus text format, of which seven metrics matter.
 *
 * 1. A Pod counts only if each of its containers has CPU and memory that are not zero: half a Pod would look idle.
 * 2. A sample without a time was taken now.
 */
import type { NodePoints, Point } from "./point.ts";

interface Partial {
  atMs?: number;
  startedAtMs?: number;
  cpuNanoSeconds?: number;
  memoryBytes?: number;
}

const SECOND_NS = 1e9;
const LINE = /^([a-z_]+)(?:\{([^}]*)\})? (\S+)(?: (-?\d+))?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function parseResourceMetrics(text: string, now: number): NodePoints {
  const node: Partial = {};
  const pods = new Map<string, Map<string, Partial>>();
  for (const line of text.split("\n")) {
    if (!line.startsWith("node_") && !line.startsWith("container_")) continue;
    const match = LINE.exec(line);
    if (match === null) continue;
    const [, name = "", labels = "", value = "", time] = match;
    const found = name.startsWith("node_") ? node : containerOf(pods, labels);
    if (found !== undefined) take(found, name, Number(value), time === undefined ? now : Number(time));
  }
  const complete = [...pods].flatMap(([pod, containers]) => {
    const points = [...containers].map(([container, partial]) => [container, pointOf(partial)] as const);
    return points.every(isComplete) ? [[pod, new Map(points)] as const] : [];
  });
  return { node: pointOf(node), pods: new Map(complete) };
}

function isComplete(entry: readonly [string, Point | undefined]): entry is readonly [string, Point] {
  return entry[1] !== undefined;
}

function containerOf(pods: Map<string, Map<string, Partial>>, text: string): Partial | undefined {
  let container = "";
  let namespace = "";
  let pod = "";
  for (const [, label = "", value = ""] of text.matchAll(LABEL)) {
    if (label === "container") container = value;
    else if (label === "namespace") namespace = value;
    else if (label === "pod") pod = value;
  }
  if (container === "" || pod === "") return undefined;
  const key = `${namespace}/${pod}`;
  const containers = pods.get(key) ?? new Map<string, Partial>();
  pods.set(key, containers);
  const found = containers.get(container) ?? {};
  containers.set(container, found);
  return found;
}

function take(point: Partial, name: string, value: number, atMs: number): void {
  switch (name) {
    case "node_cpu_usage_seconds_total":
    case "container_cpu_usage_seconds_total":
      point.cpuNanoSeconds = Math.round(value * SECOND_NS);
      // The rate is computed from the CPU: its time counts.
      point.atMs = atMs;
      break;
    case "node_memory_working_set_bytes":
    case "container_memory_working_set_bytes":
      point.memoryBytes = value;
      point.atMs ??= atMs;
      break;
    case "container_start_time_seconds":
      point.startedAtMs = value * 1000;
  }
}

function pointOf({ atMs, startedAtMs, cpuNanoSeconds = 0, memoryBytes = 0 }: Partial): Point | undefined {
  if (atMs === undefined || !(cpuNanoSeconds > 0) || !(memoryBytes > 0)) return undefined;
  return { atMs, startedAtMs, cpuNanoSeconds, memoryBytes };
}
