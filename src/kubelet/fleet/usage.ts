/**
 * What containers without processes use: CPU as a counter, memory as an amount.
 *
 * 1. A counter grows by the usage at the time of the question, for the time since the last one: the rate between two
 *    questions is what the container used at the second.
 * 2. Counters begin at the start of a container and are forgotten with it.
 */
import { type core, parseQuantity, scaledValue } from "#api";
import type { ContainerInstance } from "../pod-status/index.ts";
import { exposition, type ResourceFigures, resourceMetrics } from "../server/index.ts";
import type { ContainerLife } from "./container-life.ts";
import { amountAt, type Curve } from "./curve.ts";

export interface SimulatedUsage {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

export interface ContainerQuestion {
  readonly pod: core.Pod;
  readonly container: string;
  /** Quantities by resource. */
  readonly requests: Readonly<Record<string, string>>;
  readonly ageMs: number;
  readonly now: number;
}

export interface UsageQuestion extends ContainerQuestion {
  /** All Pods of the fleet that run. */
  readonly running: () => Iterable<core.Pod>;
}

/** What it leaves out is decided by annotations, else by requests. */
export type UsageSource = (question: UsageQuestion) => Partial<SimulatedUsage>;

/** The same for the containers of one node. */
export type NodeUsageSource = (question: ContainerQuestion) => Partial<SimulatedUsage>;

export interface RunningPod {
  readonly pod: core.Pod;
  readonly containers: readonly (ContainerLife & { readonly current: ContainerInstance })[];
}

const NANO_PER_MILLI_MS = 1_000;
const MEBI = 1024 * 1024;
/** The kubelet and everything else on the node. */
const SYSTEM = { cpuMilli: 50, memoryBytes: 256 * MEBI };
const IDLE = { cpuMilli: 1, memoryBytes: 16 * MEBI };
const CPU_PART = 0.1;
const MEMORY_PART = 0.5;

interface Counter {
  atMs: number;
  cpuNanoSeconds: number;
}

export class UsageCounters {
  readonly #source: NodeUsageSource;
  #counters = new Map<string, Counter>();
  #node: Counter | undefined;

  constructor(source: NodeUsageSource = () => ({})) {
    this.#source = source;
  }

  /** As a kubelet's /metrics/resource. */
  text(pods: readonly RunningPod[], now: number): string {
    return exposition(resourceMetrics(this.figures(pods, now)));
  }

  figures(pods: readonly RunningPod[], now: number): ResourceFigures {
    const counters = new Map<string, Counter>();
    let cpuMilli = SYSTEM.cpuMilli;
    let memory = SYSTEM.memoryBytes;
    const measured = pods.map(({ pod, containers }) => {
      const each = containers.map((life) => {
        const { id, startedAtMs = now } = life.current;
        const usage = this.#usageOf(pod, life, now);
        const counter = advanced(this.#counters.get(id) ?? { atMs: startedAtMs, cpuNanoSeconds: 0 }, usage, now);
        counters.set(id, counter);
        cpuMilli += usage.cpuMilli;
        memory += usage.memoryBytes;
        const stats = {
          timestampMs: now,
          cpuCoreNanoSeconds: counter.cpuNanoSeconds,
          memoryWorkingSetBytes: usage.memoryBytes,
        };
        return { name: life.spec.name, container: { createdAtMs: startedAtMs }, stats };
      });
      const sum = (read: (stats: (typeof each)[number]["stats"]) => number) =>
        each.reduce((total, { stats }) => total + read(stats), 0);
      const usage = {
        cpuNanoSeconds: sum((stats) => stats.cpuCoreNanoSeconds),
        memoryWorkingSetBytes: sum((stats) => stats.memoryWorkingSetBytes),
      };
      return { pod, usage, containers: each };
    });
    this.#counters = counters;
    // A node that answers for the first time has been up for a while: its counter is not zero.
    this.#node = advanced(this.#node ?? { atMs: now - 60_000, cpuNanoSeconds: 0 }, { cpuMilli }, now);
    const usage = { cpuNanoSeconds: this.#node.cpuNanoSeconds, memoryWorkingSetBytes: memory };
    return { atMs: now, usage, pods: measured };
  }

  #usageOf(pod: core.Pod, { spec, script, current }: RunningPod["containers"][number], now: number): SimulatedUsage {
    const ageMs = now - (current.startedAtMs ?? now);
    const { requests = {} } = spec.resources ?? {};
    const { cpu, memory } = requests;
    const given = this.#source({ pod, container: spec.name, requests, ageMs, now });
    return {
      cpuMilli: given.cpuMilli ?? at(script.cpuUsage, ageMs, cpu) ?? Math.max(IDLE.cpuMilli, milliOf(cpu) * CPU_PART),
      memoryBytes:
        given.memoryBytes ??
        bytes(at(script.memoryUsage, ageMs, memory)) ??
        Math.max(IDLE.memoryBytes, Math.round((milliOf(memory) / 1000) * MEMORY_PART)),
    };
  }
}

function advanced({ atMs, cpuNanoSeconds }: Counter, { cpuMilli }: Pick<SimulatedUsage, "cpuMilli">, now: number) {
  return { atMs: now, cpuNanoSeconds: cpuNanoSeconds + Math.max(0, now - atMs) * cpuMilli * NANO_PER_MILLI_MS };
}

function at(curve: Curve | undefined, ageMs: number, requested: string | undefined): number | undefined {
  return curve && amountAt(curve, ageMs, milliOf(requested));
}

function bytes(milli: number | undefined): number | undefined {
  return milli === undefined ? undefined : Math.round(milli / 1000);
}

function milliOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(scaledValue(parseQuantity(quantity), -3));
}
