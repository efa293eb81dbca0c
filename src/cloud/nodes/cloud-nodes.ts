/**
 * Copies facts about machines from the cloud to Nodes: addresses, zones, types.
 *
 *     Node with the taint --► cloud: find ──► plan-node.ts ══► Node without it
 *     Node, every 5 min   ···► cloud: find ──► addresses ══► Node
 *
 * A kubelet with `--cloud-provider external` registers its Node with a taint, which this controller removes.
 *
 * 1. While the cloud fails, a Node keeps its taint and says why in an Event.
 */
import { type core, kinds } from "#api";
import { isAbort } from "#base";
import { type Controller, defineController, keysFrom, type Plan } from "#controllers";
import type { Instances } from "../cloud.ts";
import { Retries, wordsOf } from "../retries.ts";
import { isUninitialized, planNode } from "./plan-node.ts";
import { PROVIDED_NODE_IP } from "./provided-node-ip.ts";

export interface CloudNodesOptions {
  /** Between looks at the addresses of a Node. Default: 5 minutes. */
  readonly updateMs?: number | undefined;
  readonly concurrency?: number | undefined;
}

export function cloudNodes(instances: Instances, options: CloudNodesOptions = {}): Controller {
  const { updateMs = 300_000, concurrency = 1 } = options;
  return defineController({
    name: "cloud-node-controller",
    account: "node-controller",
    reportsAs: "cloud-node-controller",
    concurrency,
    bind({ cache, random, log }) {
      const nodes = cache(kinds.Node);
      const retries = new Retries(random);
      return {
        sources: [
          keysFrom(kinds.Node, ({ type, object, old }) => {
            const isNew =
              type === "added" ||
              (type === "updated" &&
                ((isUninitialized(object) && !(old !== undefined && isUninitialized(old))) ||
                  ipOf(object) !== ipOf(old)));
            return isNew ? [object.metadata.name ?? ""] : [];
          }),
        ],
        async reconcile(key, _, signal): Promise<Plan | undefined> {
          const node = nodes.get(key);
          if (node === undefined) return retries.succeeded(key) as undefined;
          try {
            const instance = await instances.find(node, signal);
            if (instance === undefined) throw new Error("instance not found");
            const plan = planNode(node, instance);
            retries.succeeded(key);
            return { ...plan, againAfterMs: updateMs };
          } catch (error) {
            if (isAbort(error, signal)) throw error;
            const againAfterMs = Math.min(updateMs, retries.afterMs(key, error));
            log.warn("the cloud has no facts about a node yet", { node: key, error });
            return { againAfterMs, events: isUninitialized(node) ? [failed(node, error)] : [] };
          }
        },
      };
    },
  });
}

function ipOf(node: core.Node | undefined): string | undefined {
  return node?.metadata.annotations?.[PROVIDED_NODE_IP];
}

function failed(about: core.Node, error: unknown) {
  const note = `Error initializing node with the cloud provider: ${wordsOf(error)}`;
  return { about, type: "Warning", reason: "FailedToInitializeNode", note } as const;
}
