/**
 * Computes the usage of ResourceQuotas from existing objects. Admission charges new objects at once; this finds what
 * was released.
 *
 * 1. A charge by admission does not trigger a run: its object does not exist yet and would not be counted.
 * 2. Less than was charged is counted only by caches that are as new as the charge: what they do not show yet would be
 *    given away twice.
 */
import {
  calculateUsage,
  compareQuantities,
  type core,
  equalJson,
  type Json,
  kinds,
  parseQuantity,
  type Quantity,
  usedTexts,
} from "#api";
import { TaskGroup } from "#base";
import { objectKey, revisionOf } from "#client";
import { changesOf, defineController } from "../runtime/index.ts";
import { Measured } from "./measured.ts";

/** Pods that should have terminated stop counting without an event. */
const RECOUNT_MS = 5 * 60_000;
/** Caches that see no change catch up with the next bookmark. */
const CATCH_UP_MS = 1_000;

export const resourceQuotaController = defineController({
  name: "resourcequota-controller",
  bind(context) {
    const quotas = context.cache(kinds.ResourceQuota);
    const tasks = new TaskGroup();
    let enqueue: (key: string, afterMs?: number) => void = () => {};
    const measured = new Measured(context, tasks, (namespace, afterMs) => {
      for (const quota of quotas.inNamespace(namespace)) enqueue(objectKey(quota), afterMs);
    });
    return {
      sources: [
        changesOf(
          kinds.ResourceQuota,
          ({ type, object, old }) => type !== "updated" || !equalJson(specOf(object), specOf(old)),
        ),
      ],
      async reconcile(key, now, signal) {
        const quota = quotas.get(key);
        if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return undefined;
        const hard = quota.spec?.hard ?? {};
        const evaluators = await measured.evaluatorsFor(Object.keys(hard), signal);
        const { namespace = "" } = quota.metadata;
        const used = calculateUsage(quota, evaluators, (each) => measured.objects(each, namespace), now);
        const status = { hard, used: texts(used) };
        if (sameStatus(status, quota.status)) return { againAfterMs: RECOUNT_MS };
        if (releases(used, quota) && measured.revision(evaluators) < revisionOf(quota))
          return { againAfterMs: CATCH_UP_MS };
        const write = { verb: "updateStatus", resource: kinds.ResourceQuota, object: { ...quota, status } } as const;
        return { steps: [[write]], againAfterMs: RECOUNT_MS };
      },
      async run(signal, add) {
        enqueue = add;
        try {
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        } finally {
          await tasks.stop();
        }
      },
    };
  },
});

function specOf({ spec = {} }: core.ResourceQuota): Json {
  return spec as Json;
}

type Totals = ReturnType<typeof calculateUsage>;

function texts(used: Totals): Record<string, string> {
  return usedTexts({ used, hard: {}, quota: { metadata: {} } });
}

function releases(used: Totals, { status }: core.ResourceQuota): boolean {
  const counted = texts(used);
  return Object.entries(status?.used ?? {}).some(
    ([name, charged]) => compareQuantities(amount(counted[name]), amount(charged)) < 0,
  );
}

function amount(quantity: unknown): Quantity {
  return parseQuantity(String(quantity ?? 0));
}

function sameStatus(status: { hard: object; used: object }, before: core.ResourceQuota["status"]): boolean {
  return (
    equalJson(status.hard as Json, (before?.hard ?? {}) as Json) &&
    equalJson(status.used as Json, (before?.used ?? {}) as Json)
  );
}
