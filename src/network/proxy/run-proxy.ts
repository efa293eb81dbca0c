/**
 * kube-proxy of one node.
 *
 *     the Node's zone --► all Services ─┐
 *     Services, EndpointSlices --► changed Services ──► virtualAddresses ──► rules ══► kernel ──► stale connections
 *                                          └──► health-check node ports ◄── load balancers
 *
 * When it stops, the rules stay in the kernel.
 */
import { kinds } from "#api";
import { type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import { type Client, Informer, Informers, objectKey, revisionOf, WorkReporter } from "#client";
import { applyToKernel } from "../kernel/apply-to-kernel.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { type Program, runProgram } from "../kernel/program.ts";
import { deleteConnections, staleConnections } from "./conntrack.ts";
import { type NodeFacts, serviceKeyOf, ZONE } from "./endpoints.ts";
import { HealthChecks } from "./health-checks.ts";
import { type VirtualAddress, virtualAddresses } from "./virtual-addresses.ts";

/** A proxy mode: nftables or iptables. */
export interface Rules {
  apply(services: ReadonlyMap<string, readonly VirtualAddress[]>, signal: AbortSignal): Promise<void>;
  resync(signal: AbortSignal): Promise<void>;
  /** Removes all rules. */
  remove(signal: AbortSignal): Promise<void>;
}

export interface ProxyOptions {
  readonly client: Client;
  readonly node: NodeFacts;
  readonly rules: Rules;
  readonly resyncMs?: number | undefined;
  readonly run?: Program;
  /** Called once all Services are in the kernel. */
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
  const services = informers.of(kinds.Service);
  const slices = informers.of(kinds.EndpointSlice);
  const slicesOf = slices.cache.index("service", (slice) => [serviceKeyOf(slice) ?? ""]);
  const changed = new ChangeSignal();
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
    // The Node may get its zone label after this has started.
    const own = new Informer({
      ...{ client: client.of(kinds.Node), clock, random, log },
      selectors: { fieldSelector: `metadata.name=${node.name}` },
    });
    own.onChange(({ type, object }) => {
      const zone = object.metadata.labels?.[ZONE];
      if (type === "deleted" || zone === node.zone) return;
      node = { ...node, zone };
      for (const service of services.cache.list()) touch(objectKey(service));
    });
    tasks.run("informer of the node", (running) => own.run(running));
    const reporter = new WorkReporter({ client, actor: `proxy/${options.node.name}`, log, signal });
    const apply = ruleSync(dirty, addressesOf, checks, options);
    tasks.run("proxy", (running) =>
      applyToKernel({ changed, apply, reporter, resyncMs, onReady, clock, random, log }, running),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
  }
}

function ruleSync(
  dirty: Set<string>,
  addressesOf: (key: string) => readonly VirtualAddress[],
  checks: HealthChecks,
  { rules, clock, metrics, run = runProgram }: ProxyOptions,
) {
  const applied = new Map<string, readonly VirtualAddress[]>();
  const durations = metrics.histogram({
    name: "kubeproxy_sync_proxy_rules_duration_seconds",
    help: "How long it took to apply changes to the kernel.",
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
      const stale = [...changed].flatMap(([key, after]) => staleConnections(applied.get(key) ?? [], after));
      // Nothing is known of the time before the first application: connections of that time stay.
      if (!isFirst) await deleteConnections(stale, run, signal);
    } catch (error) {
      for (const key of keys) dirty.add(key);
      checks.setHealthy(false);
      throw error;
    }
    checks.setHealthy(true);
    isFirst = false;
    for (const [key, addresses] of changed) {
      if (addresses.length === 0) applied.delete(key);
      else applied.set(key, addresses);
    }
    durations.labels().observe((clock.monotonic() - start) / 1000);
    return keys.length === 0 ? undefined : `rules for ${keys.length > 3 ? `${keys.length} Services` : keys.join(", ")}`;
  };
}
