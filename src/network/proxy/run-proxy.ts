/**
 * The proxy of one node.
 *
 *     Services, EndpointSlices --► changed Services ──► virtualAddresses ──► rules ══► kernel ──► stale flows forgotten
 *
 * 1. What changes while the kernel is told is told next, all at once: a Service that flaps costs no more than the kernel takes.
 * 2. When it stops, the rules stay: traffic goes on without it.
 */
import type { core, discovery } from "#api";
import { Backoff, type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import { type Client, Informers, objectKey } from "#client";
import { EndpointSlice, Service } from "../kinds.ts";
import { type Program, runProgram } from "../program.ts";
import { forgetFlows, staleFlows } from "./conntrack.ts";
import type { NodeFacts } from "./endpoints.ts";
import { type VirtualAddress, virtualAddresses } from "./virtual-addresses.ts";

const SERVICE_NAME = "kubernetes.io/service-name";

/** One way to tell the kernel. */
export interface Rules {
  apply(services: ReadonlyMap<string, readonly VirtualAddress[]>, signal: AbortSignal): Promise<void>;
  resync(signal: AbortSignal): Promise<void>;
}

export interface ProxyOptions {
  readonly client: Client;
  readonly node: NodeFacts;
  readonly rules: Rules;
  /** How often everything is told again, in case somebody else changed it. */
  readonly resyncMs?: number;
  readonly run?: Program;
  /** Called once the kernel knows everything. */
  readonly onReady?: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

const DEFAULT_RESYNC_MS = 3_600_000;

/** Until the signal aborts. */
export async function runProxy(options: ProxyOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log } = options;
  const tasks = new TaskGroup({ parent: signal });
  const informers = new Informers({ client, clock, random, log, tasks });
  const services = informers.of(Service);
  const slices = informers.of(EndpointSlice);
  const slicesOf = slices.cache.index("service", (slice) => [serviceOf(slice) ?? ""]);
  const dirty = new Dirty();
  try {
    await Promise.all([services.synced, slices.synced]);
    services.onChange(({ object }) => dirty.add(objectKey(object)));
    slices.onChange(({ object }) => dirty.add(serviceOf(object)));
    for (const service of services.cache.list()) dirty.add(objectKey(service));
    tasks.run("proxy", (running) =>
      follow(dirty, (key) => addressesOf(services.cache.get(key), slicesOf(key), options.node), options, running),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
  }
}

function addressesOf(
  service: core.Service | undefined,
  slices: readonly discovery.EndpointSlice[],
  node: NodeFacts,
): VirtualAddress[] {
  return service === undefined ? [] : virtualAddresses(service, slices, node);
}

async function follow(
  dirty: Dirty,
  addressesOfKey: (key: string) => VirtualAddress[],
  { rules, clock, random, log, metrics, onReady, run = runProgram, resyncMs = DEFAULT_RESYNC_MS }: ProxyOptions,
  signal: AbortSignal,
): Promise<void> {
  const known = new Map<string, readonly VirtualAddress[]>();
  const backoff = new Backoff({ initialMs: 200, maxMs: 30_000, jitter: 0.2 }, random);
  const duration = metrics.histogram({
    name: "kubeproxy_sync_proxy_rules_duration_seconds",
    help: "How long it took to tell the kernel of changes.",
    buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8, 16],
  });
  let isReady = false;
  let resyncAt = clock.monotonic() + resyncMs;
  for (;;) {
    await dirty.any(clock, Math.max(0, resyncAt - clock.monotonic()), signal);
    const start = clock.monotonic();
    const keys = dirty.take();
    const changed = new Map([...keys].map((key) => [key, addressesOfKey(key)]));
    try {
      await rules.apply(changed, signal);
      if (start >= resyncAt) {
        await rules.resync(signal);
        resyncAt = start + resyncMs;
      }
      const stale = [...changed].flatMap(([key, after]) => staleFlows(known.get(key) ?? [], after));
      if (isReady) await forgetFlows(stale, run, signal);
      for (const [key, addresses] of changed) {
        if (addresses.length === 0) known.delete(key);
        else known.set(key, addresses);
      }
      backoff.reset();
      duration.labels().observe((clock.monotonic() - start) / 1000);
      if (!isReady) onReady?.();
      isReady = true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.error("the kernel could not be told of Services; it is tried again", { error });
      for (const key of keys) dirty.add(key);
      await clock.sleep(backoff.next(), signal);
    }
  }
}

function serviceOf({ metadata }: discovery.EndpointSlice): string | undefined {
  const name = metadata.labels?.[SERVICE_NAME];
  return name === undefined ? undefined : `${metadata.namespace}/${name}`;
}

/** Keys that have changed, and whoever waits for one. */
class Dirty {
  #keys = new Set<string>();
  /** The first look happens even where there is nothing. */
  #wake: (() => void) | undefined;
  #isFirst = true;

  add(key: string | undefined): void {
    if (key === undefined) return;
    this.#keys.add(key);
    this.#wake?.();
  }

  take(): Set<string> {
    const keys = this.#keys;
    this.#keys = new Set();
    return keys;
  }

  /** Returns when there are some, or after so long. */
  async any(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isFirst || this.#keys.size > 0) {
      this.#isFirst = false;
      return;
    }
    const woken = Promise.withResolvers<void>();
    const timer = clock.timer(timeoutMs, woken.resolve);
    const abort = () => woken.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    this.#wake = woken.resolve;
    try {
      await woken.promise;
    } finally {
      this.#wake = undefined;
      timer.cancel();
      signal.removeEventListener("abort", abort);
    }
  }
}
