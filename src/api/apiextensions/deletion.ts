/**
 * How a definition is deleted: in two steps, with its instances between them.
 *
 * 1. The first request only marks it. A finalizer holds it until its instances are gone.
 */
import type { DeleteRules } from "../machinery/kind.ts";
import type { CustomResourceDefinition } from "../types/apiextensions-v1.ts";

const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

const pending = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionPending",
  message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
};

export const definitionDeletion: DeleteRules<CustomResourceDefinition> = {
  holds: ({ metadata }) => metadata.deletionTimestamp === undefined,
  mark: (draft) => {
    const { metadata, status } = draft;
    const finalizers = metadata.finalizers ?? [];
    if (finalizers.includes(cleanupFinalizer)) return;
    metadata.finalizers = [...finalizers, cleanupFinalizer];
    const others = (status?.conditions ?? []).filter(({ type }) => type !== pending.type);
    const marked = { ...pending, lastTransitionTime: metadata.deletionTimestamp ?? "" };
    draft.status = { ...status, conditions: [...others, marked] };
  },
};
