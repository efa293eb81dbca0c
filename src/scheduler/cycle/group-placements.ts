/**
 * Chooses where a group goes: each part of the cluster that plugins propose is tried with the whole group, and the best
 * of those that have room is taken.
 */
import type { Group, GroupPlacement, NodeSubset, Stages } from "../framework/index.ts";
import { holdAgain } from "./attempt.ts";
import { type GroupTrial, type TrialOf, tryMembers, unwind } from "./group-trial.ts";
import type { Parts } from "./parts.ts";

export interface Placed {
  /** Holds its Pods if it fits; else nothing is held. */
  readonly trial: GroupTrial;
  readonly fits: boolean;
  /** Why no part of the cluster has room. */
  readonly message?: string | undefined;
}

/** `on`: nodes where Pods of the group are. */
export async function placeGroup(
  parts: Parts,
  group: Group,
  wanted: Omit<TrialOf, "within">,
  on: readonly string[],
): Promise<Placed> {
  const stages = parts.evaluators.get(wanted.members[0]?.pod.pod.spec?.schedulerName ?? "")?.stages;
  const subsets = stages === undefined ? undefined : subsetsFor(parts, group, stages, on);
  if (subsets === undefined) return single(parts, await tryMembers(parts, wanted), wanted);
  const nothing: GroupTrial = { within: undefined, held: [], misfits: [], left: wanted.members };
  if (typeof subsets === "string") return { trial: nothing, fits: false, message: subsets };
  let first: GroupTrial | undefined;
  const fitting: { readonly trial: GroupTrial; readonly placement: GroupPlacement }[] = [];
  for (const within of subsets) {
    const trial = await tryMembers(parts, { ...wanted, within });
    first ??= trial;
    if (trial.fault === undefined && trial.held.length >= wanted.wanted)
      fitting.push({ trial, placement: placementOf(parts, trial, within) });
    const isLast = within === subsets.at(-1);
    if (isLast && fitting.length === 1 && fitting[0]?.trial === trial) return { trial, fits: true };
    unwind(parts, trial);
    if (trial.fault !== undefined) return { trial, fits: false };
  }
  const best = stages === undefined ? undefined : bestOf(fitting, stages);
  if (best !== undefined && holdAll(parts, best.trial)) return { trial: best.trial, fits: true };
  const of = `0/${subsets.length} placements are available`;
  return { trial: first ?? nothing, fits: false, message: first === undefined ? of : `${of}, first placement status` };
}

function single(parts: Parts, trial: GroupTrial, { wanted }: Omit<TrialOf, "within">): Placed {
  const fits = trial.fault === undefined && trial.held.length >= wanted;
  if (!fits) unwind(parts, trial);
  return { trial, fits };
}

/** Undefined: the whole cluster. */
function subsetsFor(
  { state }: Parts,
  group: Group,
  { placementGenerate }: Stages,
  on: readonly string[],
): readonly NodeSubset[] | string | undefined {
  for (const plugin of placementGenerate) {
    const found = plugin.placements?.(group, state, on);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** As the nodes are while the trial holds its Pods. */
function placementOf({ state }: Parts, { held }: GroupTrial, { names }: NodeSubset): GroupPlacement {
  const nodes = [...names].flatMap((name) => {
    const node = state.nodeNamed(name);
    // Releasing the Pods must not change what is scored later.
    return node === undefined ? [] : [node.fork()];
  });
  return { nodes, pods: held.map(({ attempt }) => attempt.queued.pod) };
}

function bestOf<T extends { readonly placement: GroupPlacement }>(
  fitting: readonly T[],
  { placementScore }: Stages,
): T | undefined {
  const totals = fitting.map(() => 0);
  for (const { plugin, weight } of placementScore) {
    const raw = fitting.map(({ placement }) => plugin.scorePlacement?.(placement) ?? 0);
    for (const [at, score] of (plugin.normalizePlacements?.(raw) ?? raw).entries())
      totals[at] = (totals[at] ?? 0) + weight * score;
  }
  return fitting[totals.indexOf(Math.max(...totals))];
}

/** False, with nothing held, if a plugin does not reserve again what it has reserved before. */
function holdAll(parts: Parts, trial: GroupTrial): boolean {
  for (const [at, { placement }] of trial.held.entries()) {
    const node = parts.state.nodeNamed(placement.node);
    if (node !== undefined && holdAgain(parts, placement, node).kind === "held") continue;
    unwind(parts, { ...trial, held: trial.held.slice(0, at) });
    return false;
  }
  return true;
}
