/**
 * The Pods that would have to be evicted for a group.
 *
 * 1. All or nothing: first everything with lower priority is removed; if the group does not fit even then, nothing is
 *    evicted. Then units are put back while the group still fits: those whose PodDisruptionBudget would be violated
 *    first, then by importance.
 * 2. The group may move for that; but not for ever: after some thousand Pods that were placed anew it stays.
 */
import type { policy } from "#api";
import type { GroupNoFit, PodInfo } from "../../framework/index.ts";
import { splitByBudgets } from "./budgets.ts";
import type { Unit } from "./units.ts";
import { byImportance } from "./victims.ts";

export interface GroupVictims {
  readonly victims: readonly Unit[];
  /** The nodes of the group's Pods, by uid. */
  readonly nodes: ReadonlyMap<string, string>;
}

const MAX_PLACED = 20_000;
const NO_VICTIMS = "No preemption victims found for incoming preemptor";

/** A text says why nothing helps. `nodeOf`: where a placed Pod is. */
export function victimsFor(
  failed: GroupNoFit,
  possible: readonly Unit[],
  budgets: readonly policy.PodDisruptionBudget[],
  nowMs: number,
  nodeOf: (pod: PodInfo) => string,
): GroupVictims | string {
  if (possible.length === 0) return NO_VICTIMS;
  const sorted = possible.toSorted(moreImportant(nowMs));
  const nodesOf = new Map(sorted.map((unit) => [unit, new Set(unit.pods.map(nodeOf))]));
  const { violating } = splitByBudgets(
    sorted.flatMap(({ pods }) => pods),
    budgets,
  );
  const harmed = new Set(violating.map(({ uid }) => uid));
  const violates = ({ pods }: Unit) => pods.some(({ uid }) => harmed.has(uid));
  for (const { pods } of sorted) failed.remove(pods);
  let nodes = failed.place();
  if (nodes === undefined) return "the pod group does not fit even without all pods of lower priority";
  const order = [...sorted.filter(violates), ...sorted.filter((unit) => !violates(unit))];
  let replacements = Math.ceil(MAX_PLACED / failed.pods.length);
  const victims = order.filter((unit) => {
    failed.putBack(unit.pods);
    if (failed.stillFits(nodesOf.get(unit) ?? new Set())) return false;
    replacements -= 1;
    const elsewhere = replacements < 0 ? undefined : failed.place();
    nodes = elsewhere ?? nodes;
    if (elsewhere !== undefined) return false;
    failed.remove(unit.pods);
    return true;
  });
  return { victims: victims.toSorted(moreImportant(nowMs)), nodes };
}

/** By priority; whole groups before Pods, larger groups before smaller ones; then as single Pods are compared. */
function moreImportant(nowMs: number) {
  const compare = byImportance(nowMs);
  return (a: Unit, b: Unit): number => {
    const isWhole = (unit: Unit) => Number(unit.group !== undefined);
    if (a.priority !== b.priority) return b.priority - a.priority;
    if (isWhole(a) !== isWhole(b)) return isWhole(b) - isWhole(a);
    if (a.pods.length !== b.pods.length) return b.pods.length - a.pods.length;
    const [one, other] = [a.pods[0], b.pods[0]];
    return one === undefined || other === undefined ? 0 : compare(one, other);
  };
}
