/**
 * Asks the cloud about Nodes that are not Ready: those without a machine are deleted, those of machines that are shut
 * down get a taint, so that volumes can be detached and Pods go elsewhere.
 *
 *     Node not Ready --► cloud: find, every 5 s ──► plan-lifecycle.ts ══► Node
 *
 * 1. A Node is deleted only if the cloud says that its machine does not exist; a failure means nothing.
 */
import { kinds } from "#api";
import { isAbort } from "#base";
import { type Controller, defineController, keysFrom, type Plan } from "#controllers";
import type { Instances } from "../cloud.ts";
import { isReady, isTaintedAsShutDown, planNotReady, planReady } from "./plan-lifecycle.ts";

export interface NodeLifecycleOptions {
  /** Between looks at a Node that is not Ready. Default: 5 s. */
  readonly monitorMs?: number | undefined;
}

export function cloudNodeLifecycle(instances: Instances, { monitorMs = 5_000 }: NodeLifecycleOptions = {}): Controller {
  return defineController({
    name: "cloud-node-lifecycle-controller",
    account: "node-controller",
    reportsAs: "cloud-node-lifecycle-controller",
    concurrency: 1,
    bind({ cache, log }) {
      const nodes = cache(kinds.Node);
      return {
        sources: [
          keysFrom(kinds.Node, ({ type, object, old }) => {
            const concerns = !isReady(object) || isTaintedAsShutDown(object);
            const before = old === undefined ? undefined : isReady(old);
            const isNews = type === "added" || before !== isReady(object) || isReady(object);
            return type !== "deleted" && concerns && isNews ? [object.metadata.name ?? ""] : [];
          }),
        ],
        async reconcile(key, now, signal): Promise<Plan | undefined> {
          const node = nodes.get(key);
          if (node === undefined || node.metadata.deletionTimestamp !== undefined) return undefined;
          if (isReady(node)) return planReady(node);
          try {
            const instance = await instances.find(node, signal);
            // It may have become Ready, or gone, while the cloud was asked.
            const latest = nodes.get(key);
            if (latest?.metadata.uid !== node.metadata.uid || latest === undefined || isReady(latest))
              return { againAfterMs: 0 };
            return { ...planNotReady(latest, instance, now), againAfterMs: monitorMs };
          } catch (error) {
            if (isAbort(error, signal)) throw error;
            log.warn("the cloud could not be asked about a node that is not ready", { node: key, error });
            return { againAfterMs: monitorMs };
          }
        },
      };
    },
  });
}
