/**
 * Monitors nodes: marks silent ones, and evicts their Pods at a limited rate by taints.
 *
 *     Leases --► heartbeats                          a heartbeat costs a map entry
 *                  └···► silent nodes, by one timer for all
 *     Nodes  --► node …  ──► planNode  ══► conditions, taints, labels; Pods that are no longer ready
 *     Nodes  ···► zones  ──► planZones ══► NoExecute taints, by zone
 *
 * 1. Heartbeats and the last eviction of each zone are kept in memory only: a restart delays evictions, no more.
 */
import { equalJson, type Json, kinds } from "#api";
import type { Change } from "#client";
import { podsByNode } from "../pods/index.ts";
import { type Controller, defineController, keysFrom, observed, type Plan } from "../runtime/index.ts";
import { type Node as NodeObject, readiness } from "./conditions.ts";
import { Heartbeats } from "./heartbeats.ts";
import { nodeLifecycleMetrics } from "./metrics.ts";
import { nodeEvent, planNode, planZones, writesOf, zoneFactsOf } from "./plan.ts";
import { DEFAULT_SETTINGS, type NodeLifecycleSettings } from "./settings.ts";
import { zoneOf, zonesOf } from "./zones.ts";

export type { NodeLifecycleSettings } from "./settings.ts";

const NODE = "node ";
const ZONES = "zones";
const LEASES = "kube-node-lease";

export function nodeLifecycleController(options: Partial<NodeLifecycleSettings> = {}): Controller {
  const settings = { ...DEFAULT_SETTINGS, ...options };
  return defineController({
    name: "node-lifecycle-controller",
    account: "node-controller",
    reportsAs: "node-controller",
    bind({ cache, clock, informers, families }) {
      const metrics = families(nodeLifecycleMetrics);
      const nodes = cache(kinds.Node);
      const podsOn = podsByNode(cache(kinds.Pod));
      metrics.follow(() => zonesOf(nodes.list()));
      const heartbeats = new Heartbeats(clock);
      const allowedMs = new Map<string, number>();
      const known = new Map<string, NodeObject>();

      const silentMs = ({ metadata: { name = "", creationTimestamp } }: NodeObject, now: number) =>
        heartbeats.silentMs(name) ?? Math.max(0, now - Date.parse(creationTimestamp ?? ""));

      /** A heartbeat of a node reconciles it again when it falls silent: no other memory is needed. */
      const looksAgain = (name: string, { againAfterMs, ...plan }: Plan): Plan => {
        const leftMs = settings.monitorGraceMs - (heartbeats.silentMs(name) ?? Number.POSITIVE_INFINITY);
        const covered = leftMs > 0 && (againAfterMs ?? 0) >= leftMs;
        return covered || againAfterMs === undefined ? plan : { ...plan, againAfterMs };
      };

      const planOf = (name: string, now: number): Plan | undefined => {
        const node = nodes.get(name);
        const before = known.get(name);
        if (node === undefined) {
          known.delete(name);
          return before && { events: [nodeEvent(before, "RemovingNode", `Removing Node ${name} from Controller`)] };
        }
        known.set(name, node);
        const plan = looksAgain(
          name,
          planNode(node, { silentMs: silentMs(node, now), pods: podsOn(name) }, settings, now),
        );
        if (before !== undefined) return plan;
        return { ...plan, events: [nodeEvent(node, "RegisteredNode", `Registered Node ${name} in Controller`)] };
      };

      const planAllZones = (now: number): Plan => {
        const nowMs = clock.monotonic();
        const plan = planZones({ nodes: nodes.list(), allowedMs, nowMs }, settings);
        for (const node of plan.evict) allowedMs.set(zoneOf(node), nowMs);
        const { againAfterMs } = plan;
        const evicted = new Map(plan.evict.map((node) => [node.metadata.name, zoneOf(node)]));
        return observed({ steps: [writesOf(plan, now)], againAfterMs }, ({ object }, { ok }) => {
          const zone = evicted.get(object.metadata.name);
          if (ok && zone !== undefined) metrics.evictions.labels(zone).inc();
        });
      };

      return {
        sources: [
          keysFrom(kinds.Lease, (change) => {
            const { name = "", namespace } = change.object.metadata;
            if (namespace === LEASES) heartbeats.ofLease(change, nodes.get(name) !== undefined);
            return [];
          }),
          keysFrom(kinds.Node, (change) => {
            heartbeats.ofNode(change);
            return matters(change) ? [NODE + change.object.metadata.name] : [];
          }),
          keysFrom(kinds.Pod, ({ type, object, old }) => {
            const { nodeName = "" } = object.spec ?? {};
            if (type === "deleted" || nodeName === "" || old?.spec?.nodeName === nodeName) return [];
            const node = nodes.get(nodeName);
            return node !== undefined && readiness(node) === "Unknown" ? [NODE + nodeName] : [];
          }),
        ],
        reconcile: (key, now) => (key === ZONES ? planAllZones(now) : planOf(key.slice(NODE.length), now)),
        async run(signal, enqueue) {
          const leave = informers.of(kinds.Node).onChange(({ type, object, old }) => {
            if (type === "updated" && zoneFactsOf(object) === zoneFactsOf(old)) return;
            enqueue(ZONES, settings.monitorPeriodMs);
          });
          try {
            while (!signal.aborted) {
              await clock.sleep(heartbeats.nextSilenceMs(settings.monitorGraceMs), signal);
              for (const name of heartbeats.fallenSilent(settings.monitorGraceMs)) enqueue(NODE + name);
            }
          } finally {
            leave();
          }
        },
      };
    },
  });
}

/** Most changes of a Node are heartbeats. */
function matters({ type, object, old }: Change<NodeObject>): boolean {
  return type !== "updated" || !equalJson(factsOf(object), factsOf(old));
}

function factsOf({ metadata, spec, status }: NodeObject): Json {
  const conditions = (status?.conditions ?? []).map(({ type, status }) => [type, status]);
  return [metadata.uid ?? "", metadata.labels ?? {}, spec ?? {}, conditions] as unknown as Json;
}
