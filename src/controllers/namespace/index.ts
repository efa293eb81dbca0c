/**
 * Terminating namespaces: all of their objects are deleted, then the finalizer is removed.
 *
 *     DELETE ──► Terminating ──► Pods are deleted ──► all else is deleted ──► nothing left ──► finalizer removed
 *                     ▲                  │                     │ something is left, or failed
 *                     └──────────────────┴─────────────────────┘
 */
import { type core, equalJson, type Json, kinds } from "#api";
import { changesOf, defineController } from "../runtime/index.ts";
import { emptyingConditions } from "./conditions.ts";
import { emptyNamespace } from "./empty.ts";

const FINALIZER = "kubernetes";
/** The delay before terminating objects, such as Pods, are checked again. */
const FIRST_LOOK_MS = 1_000;
const LATER_LOOK_MS = 5_000;

export const namespaceController = defineController({
  name: "namespace-controller",
  concurrency: 10,
  bind({ cache, client }) {
    const namespaces = cache(kinds.Namespace);
    return {
      sources: [changesOf(kinds.Namespace, ({ object }) => object.metadata.deletionTimestamp !== undefined)],
      async reconcile(key, now, signal) {
        const namespace = namespaces.get(key);
        const deleted = namespace?.metadata.deletionTimestamp;
        if (deleted === undefined || !namespace?.spec?.finalizers?.includes(FINALIZER)) return undefined;
        const seconds = (now - Date.parse(deleted)) / 1_000;
        const emptying = await emptyNamespace(client, { name: key, seconds }, signal);
        const before = namespace.status?.conditions ?? [];
        const conditions = emptyingConditions(emptying, before, timeOf(now));
        const changed = !equalJson(before as unknown as Json, conditions as unknown as Json);
        const status = { ...namespace.status, phase: "Terminating" as const, conditions };
        const current = changed
          ? await client.of(kinds.Namespace).updateStatus({ ...namespace, status }, { signal })
          : namespace;

        const { failures, remaining, discoveryError } = emptying;
        if (failures.length > 0) throw new Error(failures.join("; "));
        if (remaining.size > 0 || discoveryError !== undefined)
          return { againAfterMs: before.length === 0 ? FIRST_LOOK_MS : LATER_LOOK_MS };
        await client.of(kinds.Namespace).subresource(key, "finalize").update(finalized(current), { signal });
        return undefined;
      },
    };
  },
});

function finalized(namespace: core.Namespace): core.Namespace {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== FINALIZER);
  return { ...namespace, spec: { ...namespace.spec, finalizers } };
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
