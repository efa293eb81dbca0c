/**
 * Creates routes to the Pods of each Node in clouds that need them.
 *
 *     Nodes --► wanted routes ──► difference ──► cloud ──► NetworkUnavailable: False ══► Node
 */
import { type core, formatTime, instantOf, kinds } from "#api";
import type { Controller, Plan, Source, Write } from "#controllers";
import type { Route, Routes } from "./cloud.ts";

/** All Nodes share one key: stale routes are found by comparing all routes with all Nodes. */
const ALL = "routes";
const LOOK_MS = 10_000;

export function podRoutes(routes: Routes): Controller {
  return {
    name: "node-route-controller",
    account: "route-controller",
    reportsAs: "route-controller",
    concurrency: 1,
    bind({ cache }) {
      const nodes = cache(kinds.Node);
      const sources: Source[] = [{ resource: kinds.Node as Source["resource"], keys: () => [ALL] }];
      return {
        sources,
        async reconcile(_, now, signal): Promise<Plan> {
          const { missing, stale } = routeChanges(nodes.list(), await routes.list(signal));
          for (const route of stale) await routes.delete(route, signal);
          for (const route of missing) await routes.create(route, signal);
          return { steps: [nodes.list().flatMap((node) => reachable(node, now))], againAfterMs: LOOK_MS };
        },
      };
    },
  };
}

export function routeChanges(nodes: readonly core.Node[], there: readonly Route[]) {
  const idOf = ({ nodeName, destination }: Route) => `${nodeName} ${destination}`;
  const wanted = nodes.flatMap(({ metadata: { name = "" }, spec }) =>
    (spec?.podCIDRs ?? []).map((destination) => ({ nodeName: name, destination })),
  );
  const [now, then] = [new Set(there.map(idOf)), new Set(wanted.map(idOf))];
  return {
    missing: wanted.filter((route) => !now.has(idOf(route))),
    stale: there.filter((route) => !then.has(idOf(route))),
  };
}

function reachable(node: core.Node, now: number): Write[] {
  if ((node.spec?.podCIDRs ?? []).length === 0) return [];
  const known = node.status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  if (known?.status === "False") return [];
  const at = formatTime(instantOf(now));
  const condition = {
    ...{ type: "NetworkUnavailable", status: "False", reason: "RouteCreated" },
    message: "RouteController created a route",
    ...{ lastTransitionTime: at, lastHeartbeatTime: at },
  };
  return [
    {
      verb: "patch",
      resource: kinds.Node,
      object: node,
      subresource: "status",
      patch: { status: { conditions: [condition] } },
    },
  ];
}
