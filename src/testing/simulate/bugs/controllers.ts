/** Bugs in controllers: what they plan, and when. */
import type { KubeObject } from "#api";
import type { Controller } from "#controllers";
import { allControllers } from "#controllers";
import { execute } from "../../../controllers/runtime/execute.ts";
import type { Plan, Write } from "../../../controllers/runtime/plan.ts";
import type { Meddling } from "../simulated-cluster.ts";
import type { Bug } from "./bug.ts";

type Reconciler = ReturnType<Controller["bind"]>;
type Context = Parameters<Controller["bind"]>[0];

/** One of the controllers, with another reconcile. */
function changed(
  name: string,
  change: (context: Context, bind: (context: Context) => Reconciler) => Reconciler,
): Meddling {
  return {
    controllers: (facts) =>
      allControllers(facts).map((each) =>
        each.name === name ? { ...each, bind: (context) => change(context, (other) => each.bind(other)) } : each,
      ),
  };
}

/** One of the controllers, with other plans. */
function planned(name: string, change: (plan: Plan, context: Context, key: string) => Plan | Promise<Plan>): Meddling {
  return changed(name, (context, bind) => {
    const own = bind(context);
    return {
      ...own,
      sources: own.sources,
      reconcile: async (key, now, signal) => {
        const plan = await own.reconcile(key, now, signal);
        return plan === undefined ? undefined : change(plan, context, key);
      },
    };
  });
}

const silentRecorder = { record: () => {}, flush: async () => {} };

export const withoutBarrier: Bug = {
  name: "no-barrier",
  words: "the ReplicaSet controller does not wait until its caches show the Pods that it has just made",
  plant: () =>
    planned("replicaset-controller", async (plan, { client }) => {
      const { signal } = new AbortController();
      const { failures } = await execute(plan, { client, recorder: silentRecorder, signal });
      plan.done?.(failures);
      if (failures[0] !== undefined) throw failures[0].error;
      return { againAfterMs: plan.againAfterMs };
    }),
};

export const forgottenRequeue: Bug = {
  name: "forgotten-requeue",
  words: "the ReplicaSet controller does not look again when minReadySeconds have passed",
  plant: () => planned("replicaset-controller", ({ againAfterMs: _, ...plan }) => plan),
};

export const restlessStatus: Bug = {
  name: "restless-status",
  words: "the Deployment controller writes the time of its last look into the object, and wakes itself by that",
  plant: () =>
    planned("deployment-controller", (plan, { clock, cache }, key) => {
      const [resource] = [{ apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true }];
      const object = cache<KubeObject>(resource as never).get(key);
      if (object === undefined) return plan;
      const looked = { annotations: { "example.com/looked": new Date(clock.now()).toISOString() } };
      const write: Write = {
        verb: "patch",
        resource: resource as never,
        object,
        type: "merge",
        patch: { metadata: looked },
      };
      return { ...plan, steps: [...(plan.steps ?? []), [write]] };
    }),
};
