/** The writes that the controllers of snapshots plan. */
import type { JsonObject, KubeObject, ResourceName } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan, Write } from "#controllers";

export type Named<T extends KubeObject> = ResourceName<T>;

/** Fails with a conflict if the object has changed since it was read. */
export function changedFinalizers<T extends KubeObject>(
  resource: Named<T>,
  object: T,
  { add = [], remove = [] }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): Write {
  const { finalizers = [], resourceVersion } = object.metadata;
  const kept = finalizers.filter((each) => !remove.includes(each));
  const next = [...kept, ...add.filter((each) => !kept.includes(each))];
  return merged(resource, object, { metadata: { finalizers: next, ...(resourceVersion && { resourceVersion }) } });
}

/** null removes an annotation. */
export function annotated<T extends KubeObject>(
  resource: Named<T>,
  object: T,
  annotations: Readonly<Record<string, string | null>>,
): Write {
  return merged(resource, object, { metadata: { annotations } });
}

export function merged<T extends KubeObject>(resource: Named<T>, object: T, patch: JsonObject): Write {
  return { verb: "patch", type: "merge", resource, object, patch };
}

export function withStatus<T extends KubeObject & { readonly status?: object }>(
  resource: Named<T>,
  object: T,
  status: T["status"],
): Write {
  return { verb: "updateStatus", resource, object: { ...object, status } };
}

export function deletion<T extends KubeObject>(resource: Named<T>, object: T): Write {
  return { verb: "delete", resource, object };
}

export function oneStep(...writes: readonly Write[]): Plan {
  return { steps: [writes] };
}

/** Events about a write that succeeded: repeated attempts report nothing. */
export function reported(write: Write, ...events: readonly RecordedEvent[]): Plan {
  return { steps: [[write]], eventFor: (_, outcome) => (outcome.ok ? events : undefined) };
}

export function normal(about: KubeObject, reason: string, note: string): RecordedEvent {
  return { about, type: "Normal", reason, note };
}

export function warning(about: KubeObject, reason: string, note: string): RecordedEvent {
  return { about, type: "Warning", reason, note };
}
