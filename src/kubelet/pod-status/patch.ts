/**
 * The smallest strategic merge patch from the status in the API to the one to report.
 *
 * 1. It has the Pod's uid, so that the API server refuses it for another Pod of the same name.
 * 2. Conditions are merged by type: those of others stay. Everything else is replaced.
 */
import { type core, equalJson, isObject, type Json, type JsonObject } from "#api";

/** Lists with a merge key: without a directive, old elements would stay. */
const MERGED_LISTS = new Set(["hostIPs", "podIPs"]);

/** Undefined if nothing has changed. */
export function statusPatch(pod: core.Pod, next: core.PodStatus): JsonObject | undefined {
  const before = (pod.status ?? {}) as JsonObject;
  const after = next as JsonObject;
  const changed: Record<string, Json> = {};
  for (const [name, value] of Object.entries(after)) {
    if (name === "conditions") Object.assign(changed, changedConditions(pod.status?.conditions, next.conditions));
    else if (value !== undefined && !equalJson(before[name] ?? null, value))
      changed[name] = replacing(name, before[name], value);
  }
  for (const name of Object.keys(before)) if (!(name in after)) changed[name] = null;
  if (Object.keys(changed).length === 0) return undefined;
  return { metadata: { uid: pod.metadata.uid ?? "" }, status: changed };
}

/** Without the directive, old fields would stay. Lists of container statuses are atomic. */
function replacing(name: string, before: Json | undefined, value: Json): Json {
  if (isObject(before) && isObject(value)) return { ...value, $patch: "replace" };
  return before !== undefined && MERGED_LISTS.has(name)
    ? [...(value as readonly Json[]), { $patch: "replace" }]
    : value;
}

function changedConditions(
  before: readonly core.PodCondition[] | undefined,
  after: readonly core.PodCondition[] | undefined,
): Record<string, Json> {
  const old = new Map((before ?? []).map((condition) => [condition.type, condition]));
  const list: Json[] = [];
  for (const condition of after ?? []) {
    const known = old.get(condition.type);
    old.delete(condition.type);
    if (known !== undefined && isSame(known, condition)) continue;
    const gone = Object.fromEntries(
      Object.keys(known ?? {}).flatMap((field) => (field in condition ? [] : [[field, null]])),
    );
    list.push({ ...gone, ...condition } as unknown as Json);
  }
  for (const type of old.keys()) list.push({ type, $patch: "delete" });
  if (list.length === 0) return {};
  if (before === undefined || before.length === 0) return { conditions: list };
  const order = (after ?? []).map(({ type }) => ({ type }));
  return { conditions: list, "$setElementOrder/conditions": order };
}

function isSame(a: core.PodCondition, b: core.PodCondition): boolean {
  const { lastProbeTime: _, ...known } = a;
  const { lastProbeTime: __, ...next } = b;
  return equalJson(known as unknown as Json, next as unknown as Json);
}
