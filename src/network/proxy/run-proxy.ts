/**
 * The proxy of one node.
 *
 *     the Node's zone --► all Services ─┐
 *     Services, EndpointSlices --► changed Services ──► virtualAddresses ──► rules ══► kernel ──► stale flows forgotten
 *                                          └──► health-check node ports ◄── load balancers
 *
 * When it stops, the rules stay: traffic goes on without it.
 */
import { type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import { type Client, Informer, Informers, objectKey, revisionOf, WorkReporter } from "#client";
import { Changed, tellKernel } from "../kernel/apply-to-kernel.ts";
import { EndpointSlice, Node, Service, serviceKeyOf, ZONE } from "../kernel/kinds.ts";
import { type Program, runProgram } from "../kernel/program.ts";
import { forgetFlows, staleFlows } from "./conntrack.ts";
import type { NodeFacts } from "./endpoints.ts";
import { HealthChecks } from "./health-checks.ts";
import { type VirtualAddress, virtualAddresses } from "./virtual-addresses.ts";

/** One way to tell the kernel. */
export interface Rules {
  apply(services: ReadonlyMap<string, readonly VirtualAddress[]>, signal: AbortSignal): Promise<void>;
  resync(signal: AbortSignal): Promise<void>;
  /** Takes everything away. */
  remove(signal: AbortSignal): Promise<void>;
}

export interface ProxyOptions {
  readonly client: Client;
  readonly node: NodeFacts;
  readonly rules: Rules;
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
  const { client, clock, random, log, onReady, resyncMs = DEFAULT_RESYNC_MS } = options;
  const tasks = new TaskGroup({ parent: signal });
  const informers = new Informers({ client, clock, random, log, tasks });
  const services = informers.of(Service);
  const slices = informers.of(EndpointSlice);
  const slicesOf = slices.cache.index("service", (slice) => [serviceKeyOf(slice) ?? ""]);
  const changed = new Changed();
  const dirty = new Set<string>();
  const touch = (key: string | undefined, revision?: number) => {
    if (key === undefined) return;
    dirty.add(key);
    changed.mark(revision);
  };
  let { node } = options;
  await using checks = new HealthChecks({ node, log });
  const addressesOf = (key: string) => {
    const service = services.cache.get(key);
    checks.update(key, service, service === undefined ? [] : slicesOf(key));
    return service === undefined ? [] : virtualAddresses(service, slicesOf(key), node);
  };
  try {
    await Promise.all([services.synced, slices.synced]);
    services.onChange(({ object }) => touch(objectKey(object), revisionOf(object)));
    slices.onChange(({ object }) => touch(serviceKeyOf(object), revisionOf(object)));
    for (const service of services.cache.list()) touch(objectKey(service));
    // Who gives nodes their zones may do so after this has begun.
    const own = new Informer({
      ...{ client: client.of(Node), clock, random, log },
      selectors: { fieldSelector: `metadata.name=${node.name}` },
    });
    own.onChange(({ type, object }) => {
      const zone = object.metadata.labels?.[ZONE];
      if (type === "deleted" || zone === node.zone) return;
      const { zone: _before, ...facts } = node;
      node = zone === undefined ? facts : { ...facts, zone };
      for (const service of services.cache.list()) touch(objectKey(service));
    });
    tasks.run("informer of the node", (running) => own.run(running));
    const reporter = new WorkReporter({ client, actor: `proxy/${options.node.name}`, log, signal });
    const tell = teller(dirty, addressesOf, checks, options);
    tasks.run("proxy", (running) =>
      tellKernel({ changed, tell, reporter, resyncMs, onReady, clock, random, log }, running),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
  }
}

function teller(
  dirty: Set<string>,
  addressesOf: (key: string) => readonly VirtualAddress[],
  checks: HealthChecks,
  { rules, clock, metrics, run = runProgram }: ProxyOptions,
) {
  const known = new Map<string, readonly VirtualAddress[]>();
  const durations = metrics.histogram({
    name: "kubeproxy_sync_proxy_rules_duration_seconds",
    help: "How long it took to tell the kernel of changes.",
    buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8, 16],
  });
  let isFirst = true;
  return async (whole: boolean, signal: AbortSignal): Promise<string | undefined> => {
    const start = clock.monotonic();
    const keys = [...dirty];
    dirty.clear();
    const changed = new Map(keys.map((key) => [key, addressesOf(key)]));
    try {
      await rules.apply(changed, signal);
      if (whole) await rules.resync(signal);
      const stale = [...changed].flatMap(([key, after]) => staleFlows(known.get(key) ?? [], after));
      // Before the first time nothing is known of what was: what was there may go on.
      if (!isFirst) await forgetFlows(stale, run, signal);
    } catch (error) {
      for (const key of keys) dirty.add(key);
      checks.setHealthy(false);
      throw error;
    }
    checks.setHealthy(true);
    isFirst = false;
    for (const [key, addresses] of changed) {
      if (addresses.length === 0) known.delete(key);
      else known.set(key, addresses);
    }
    durations.labels().observe((clock.monotonic() - start) / 1000);
    return keys.length === 0 ? undefined : `rules for ${keys.length > 3 ? `${keys.length} Services` : keys.join(", ")}`;
  };
}
