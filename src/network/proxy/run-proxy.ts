/**
 * kube-proxy of one node.
 *
 *     the Node's zone --► all Services ─┐
 *     Services, EndpointSlices --► changed Services ──► virtualAddresses ──► rules ══► kernel ──► stale connections
 *                                          ├──► health-check node ports ◄── load balancers
 *                                          └──► addresses that belong to others ──► an Event of the Service
 *
 * When it stops, the rules stay in the kernel.
 */
import { type core, kinds } from "#api";
import { type Clock, type Logger, LruMap, type Random, TaskGroup } from "#base";
import { type Client, eventRecorder, Informer, Informers, objectKey, revisionOf, WorkReporter } from "#client";
import { applyToKernel } from "../kernel/apply-to-kernel.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { type Program, runProgram } from "../kernel/program.ts";
import type { ApiServers } from "./api-servers.ts";
import { deleteConnections, staleConnections } from "./conntrack.ts";
import { type NodeFacts, serviceKeyOf, ZONE } from "./endpoints.ts";
import { HealthChecks } from "./health-checks.ts";
import type { ProxyMetrics } from "./metrics.ts";
import { type Claim, type Listener, type ProtectedFacts, readListeners, refusalOf } from "./protected-addresses.ts";
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
  /** Which API servers answer. Default: all that the API names. */
  readonly apiServers?: ApiServers | undefined;
  readonly rules: Rules;
  readonly resyncMs?: number | undefined;
  readonly run?: Program;
  /** Sockets of this node. */
  readonly listeners?: (() => readonly Listener[]) | undefined;
  /** Called once all Services are in the kernel. */
  readonly onReady?: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ProxyMetrics;
}

const DEFAULT_RESYNC_MS = 3_600_000;
const MAX_REPORTED = 4096;
const API_SERVER = "default/kubernetes";

/** Until the signal aborts. */
export async function runProxy(options: ProxyOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, onReady, metrics, resyncMs = DEFAULT_RESYNC_MS } = options;
  const tasks = new TaskGroup({ parent: signal });
  const informers = new Informers({ client, clock, random, log, tasks });
  const services = informers.of(kinds.Service);
  const slices = informers.of(kinds.EndpointSlice);
  const cidrs = informers.of(kinds.ServiceCIDR);
  const allSlicesOf = slices.cache.index("service", (slice) => [serviceKeyOf(slice) ?? ""]);
  const { apiServers } = options;
  const slicesOf = (key: string) =>
    key === API_SERVER && apiServers !== undefined ? apiServers.living(allSlicesOf(key)) : allSlicesOf(key);
  const changed = new ChangeSignal();
  const dirty = new Set<string>();
  const touch = (key: string | undefined, revision?: number) => {
    if (key === undefined) return;
    dirty.add(key);
    changed.mark(revision);
  };
  let { node } = options;
  let nodeObject: core.Node | undefined;
  const facts = (): ProtectedFacts => ({
    serviceCidrs: cidrs.cache.list().flatMap(({ spec }) => spec?.cidrs ?? []),
    podCidrs: node.podCidrs,
    apiServers: allSlicesOf(API_SERVER),
    node: nodeObject,
    nodeAddresses: node.addresses,
    listeners: options.listeners ?? readListeners,
  });
  const touchExternal = () => {
    for (const service of services.cache.list()) if (isExternal(service)) touch(objectKey(service));
  };
  const recorder = refusalRecorder(options);
  await using checks = new HealthChecks({ node, log });
  const addressesOf = (key: string) => {
    const service = services.cache.get(key);
    checks.update(key, service, service === undefined ? [] : slicesOf(key));
    if (service === undefined) return [];
    const known = facts();
    return virtualAddresses(service, slicesOf(key), node, (claim) => {
      const why = refusalOf(claim, known);
      if (why !== undefined) recorder.refused(service, claim, why);
      return why !== undefined;
    });
  };
  try {
    await Promise.all([services.synced, slices.synced, cidrs.synced]);
    services.onChange(({ object }) => {
      metrics.serviceChanged();
      touch(objectKey(object), revisionOf(object));
    });
    slices.onChange(({ object }) => {
      const key = serviceKeyOf(object);
      if (key !== undefined) metrics.endpointsChanged(key, object);
      touch(key, revisionOf(object));
      if (key === API_SERVER) touchExternal();
    });
    apiServers?.onChange(() => touch(API_SERVER));
    cidrs.onChange(touchExternal);
    for (const service of services.cache.list()) touch(objectKey(service));
    // The Node may get its zone label after this has started.
    const own = new Informer({
      ...{ client: client.of(kinds.Node), clock, random, log },
      selectors: { fieldSelector: `metadata.name=${node.name}` },
    });
    own.onChange(({ type, object }) => {
      const isFirst = nodeObject === undefined;
      nodeObject = object;
      if (isFirst) touchExternal();
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
    await recorder.flush();
  }
}

function isExternal({ spec, status }: core.Service): boolean {
  return (spec?.externalIPs ?? []).length + (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** Reports each refusal once for as long as the Service is the same. */
function refusalRecorder({ client, node, clock, random, log }: ProxyOptions) {
  const events = client.of(kinds.Event);
  const recorder = eventRecorder({ events, controller: "kube-proxy", instance: node.name, clock, random, log });
  const reported = new LruMap<string, true>(MAX_REPORTED);
  return {
    refused(about: core.Service, { address, protocol, port }: Claim, why: string): void {
      const key = [about.metadata.uid, address, protocol, port, why].join(" ");
      if (reported.get(key) === true) return;
      reported.set(key, true);
      log.warn("a Service cannot have an address", { service: objectKey(about), address, port, protocol, why });
      const note = `Traffic to ${address} port ${port}/${protocol} is not sent to this Service: ${why}`;
      recorder.record({ about, type: "Warning", reason: "AddressRefused", action: "SyncService", note });
    },
    flush: () => recorder.flush(),
  };
}

function ruleSync(
  dirty: Set<string>,
  addressesOf: (key: string) => readonly VirtualAddress[],
  checks: HealthChecks,
  { rules, metrics, run = runProgram }: ProxyOptions,
) {
  const applied = new Map<string, readonly VirtualAddress[]>();
  let isFirst = true;
  return async (whole: boolean, signal: AbortSignal): Promise<string | undefined> => {
    const done = metrics.begin(whole || isFirst);
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
    done(keys);
    return keys.length === 0 ? undefined : `rules for ${keys.length > 3 ? `${keys.length} Services` : keys.join(", ")}`;
  };
}
