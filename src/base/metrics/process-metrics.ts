/**
 * Metrics of the process, under the names that dashboards know.
 *
 * 1. Values are read at each scrape; only the event loop's delay is sampled in between, until disposal.
 * 2. Disposal ends both; the families stay with their last values.
 */

import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricsRegistry } from "./metrics.ts";

/** Rare, because nothing else wakes an idle process. */
const sampleEveryMs = 100;

export function registerProcessMetrics(registry: MetricsRegistry): Disposable {
  const readers = [cpu(registry), memory(registry), ...(process.platform === "linux" ? [linux(registry)] : [])];
  const delay = monitorEventLoopDelay({ resolution: sampleEveryMs });
  delay.enable();
  readers.push(eventLoop(registry, delay));
  startUp(registry);
  const stop = registry.collect(() => {
    for (const read of readers) read();
  });
  return {
    [Symbol.dispose]: () => {
      stop();
      delay.disable();
    },
  };
}

function startUp(registry: MetricsRegistry): void {
  const started = { name: "process_start_time_seconds", help: "When the process started, in seconds since the epoch." };
  registry
    .gauge(started)
    .labels()
    .set(performance.timeOrigin / 1000);
  registry
    .gauge({ name: "nodejs_version_info", help: "The version of Node.js.", labels: ["version"] })
    .labels(process.version)
    .set(1);
}

function cpu(registry: MetricsRegistry): () => void {
  const counter = (name: string, help: string) => registry.counter({ name, help }).labels();
  const user = counter("process_cpu_user_seconds_total", "CPU time spent in user mode.");
  const system = counter("process_cpu_system_seconds_total", "CPU time spent in the kernel.");
  const total = counter("process_cpu_seconds_total", "CPU time spent, in user mode and in the kernel.");
  return () => {
    const used = process.cpuUsage();
    user.setTotal(used.user / 1e6);
    system.setTotal(used.system / 1e6);
    total.setTotal((used.user + used.system) / 1e6);
  };
}

function memory(registry: MetricsRegistry): () => void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help }).labels();
  const resident = gauge("process_resident_memory_bytes", "Memory held in RAM.");
  const heapTotal = gauge("nodejs_heap_size_total_bytes", "Memory reserved for the JavaScript heap.");
  const heapUsed = gauge("nodejs_heap_size_used_bytes", "Memory used in the JavaScript heap.");
  const external = gauge("nodejs_external_memory_bytes", "Memory of buffers and native objects that JavaScript holds.");
  return () => {
    const used = process.memoryUsage();
    resident.set(used.rss);
    heapTotal.set(used.heapTotal);
    heapUsed.set(used.heapUsed);
    external.set(used.external);
  };
}

function linux(registry: MetricsRegistry): () => void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help }).labels();
  const virtual = gauge("process_virtual_memory_bytes", "Address space in use.");
  const openFiles = gauge("process_open_fds", "Open file descriptors.");
  const maxFiles = gauge("process_max_fds", "How many file descriptors may be open.");
  return () => {
    virtual.set(Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]) * 1024);
    // The descriptor that reads the folder is among those listed.
    openFiles.set(readdirSync("/proc/self/fd").length - 1);
    const limit = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    maxFiles.set(limit === "unlimited" ? Infinity : Number(limit));
  };
}

/** The delay of timers since the last scrape. */
function eventLoop(registry: MetricsRegistry, delay: ReturnType<typeof monitorEventLoopDelay>): () => void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help }).labels();
  const mean = gauge("nodejs_eventloop_lag_seconds", "Mean delay of the event loop since the last scrape.");
  const p50 = gauge("nodejs_eventloop_lag_p50_seconds", "Median delay of the event loop since the last scrape.");
  const p99 = gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "99th percentile of the event loop's delay since the last scrape.",
  );
  const max = gauge("nodejs_eventloop_lag_max_seconds", "Longest delay of the event loop since the last scrape.");
  // The samples are the times between two firings, the interval included.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - sampleEveryMs / 1000);
  return () => {
    const any = delay.count > 0;
    mean.set(any ? seconds(delay.mean) : 0);
    p50.set(any ? seconds(delay.percentile(50)) : 0);
    p99.set(any ? seconds(delay.percentile(99)) : 0);
    max.set(any ? seconds(delay.max) : 0);
    delay.reset();
  };
}
