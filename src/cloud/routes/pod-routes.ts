/**
 * Creates routes to the Pods of each Node in clouds that need them.
 *
 *     Nodes --►, every 10 s ···► cloud: list ──► plan-routes.ts ──► cloud: delete, create
 *                                                  └──► NetworkUnavailable ══► Node
 */
import { type core, kinds } from "#api";
import { isAbort } from "#base";
import type { RecordedEvent } from "#client";
import { type Controller, defineController, keysFrom, type Plan } from "#controllers";
import type { Route, Routes } from "../cloud.ts";
import { wordsOf } from "../retries.ts";
import { conditionWrites, routeChanges, routesTo } from "./plan-routes.ts";

/** All Nodes share one key: stale routes are found by comparing all routes with all Nodes. */
const ALL = "routes";

export interface PodRoutesOptions {
  /** Routes outside of these ranges are somebody else's. Default: all are ours. */
  readonly clusterCidrs?: readonly string[] | undefined;
  /** Between looks at the routes of the cloud. Default: 10 s. */
  readonly periodMs?: number | undefined;
}

export function podRoutes(routes: Routes, { clusterCidrs, periodMs = 10_000 }: PodRoutesOptions = {}): Controller {
  return defineController({
    name: "node-route-controller",
    account: "route-controller",
    reportsAs: "route_controller",
    concurrency: 1,
    bind({ cache, log }) {
      const nodes = cache(kinds.Node);
      return {
        sources: [
          keysFrom(kinds.Node, ({ type, object, old }) =>
            type !== "updated" || factsOf(object) !== factsOf(old) ? [ALL] : [],
          ),
        ],
        async reconcile(_, now, signal): Promise<Plan> {
          const all = nodes.list();
          const { missing, stale } = routeChanges(all, await routes.list(signal), clusterCidrs);
          const failed = new Map<string, RecordedEvent>();
          for (const route of stale) {
            await attempt(
              () => routes.delete(route, signal),
              signal,
              (error) => log.warn("a stale route could not be deleted yet", { ...route, error }),
            );
          }
          const byName = new Map(all.map((node) => [node.metadata.name ?? "", node]));
          for (const route of missing) {
            await attempt(
              () => routes.create(route, signal),
              signal,
              (error) => {
                const node = byName.get(route.nodeName);
                if (node !== undefined) failed.set(route.nodeName, failure(node, route, error));
              },
            );
          }
          const writes = all.flatMap((node) => conditionWrites(node, !failed.has(node.metadata.name ?? ""), now));
          return { steps: [writes], events: [...failed.values()], againAfterMs: periodMs };
        },
      };
    },
  });
}

/** One route that fails leaves the others alone. */
async function attempt(call: () => Promise<void>, signal: AbortSignal, onFailure: (error: unknown) => void) {
  try {
    await call();
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    onFailure(error);
  }
}

function factsOf(node: core.Node | undefined): string {
  const condition = node?.status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  return JSON.stringify([node === undefined ? [] : routesTo(node), condition?.status]);
}

function failure(about: core.Node, { destination, nodeName }: Route, error: unknown): RecordedEvent {
  const note = `Could not create route ${destination} for node ${nodeName}: ${wordsOf(error)}`;
  return { about, type: "Warning", reason: "FailedToCreateRoute", note };
}
