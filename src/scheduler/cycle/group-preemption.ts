/**
 * Lets plugins look for Pods whose removal makes room for a group: the present state is changed for that, and is as it
 * was before anything else sees it.
 *
 * 1. Synchronous: a group whose Pods concern extenders is not helped.
 */
import type { Group, GroupNoFit, GroupPostFiltered, PodInfo } from "../framework/index.ts";
import type { QueuedPod } from "../queue/index.ts";
import { holdAgain } from "./attempt.ts";
import { unreserve } from "./binding.ts";
import { type GroupTrial, tryNow, unwind } from "./group-trial.ts";
import type { Parts } from "./parts.ts";

/** Undefined: no plugin tries. */
export function preemptForGroup(
  parts: Parts,
  group: Group,
  members: readonly QueuedPod[],
  wanted: number,
): GroupPostFiltered | undefined {
  const stages = parts.evaluators.get(members[0]?.pod.pod.spec?.schedulerName ?? "")?.stages;
  const pods = members.map(({ pod }) => pod);
  const concerns = parts.extenders.some((extender) => pods.some((pod) => extender.isInterested(pod)));
  if (stages === undefined || stages.groupPostFilter.length === 0 || concerns) return undefined;
  let last: GroupPostFiltered | undefined;
  for (const plugin of stages.groupPostFilter) {
    const what = new Simulation(parts, group, members, wanted);
    try {
      last = plugin.groupPostFilter?.(what);
    } finally {
      what.end();
    }
    if (last?.kind === "nominated") return last;
  }
  return last;
}

class Simulation implements GroupNoFit {
  readonly group: Group;
  readonly pods: readonly PodInfo[];
  readonly #parts: Parts;
  readonly #members: readonly QueuedPod[];
  readonly #wanted: number;
  /** Removed Pods with the node where they were, and whether they are only assumed there. */
  readonly #removed = new Map<string, { readonly pod: PodInfo; readonly node: string; readonly assumed: boolean }>();
  #trial: GroupTrial | undefined;

  constructor(parts: Parts, group: Group, members: readonly QueuedPod[], wanted: number) {
    this.#parts = parts;
    this.group = group;
    this.#members = members;
    this.#wanted = wanted;
    this.pods = members.map(({ pod }) => pod);
  }

  remove(pods: readonly PodInfo[]): void {
    const { state } = this.#parts;
    for (const { uid } of pods) {
      const placed = state.placeOf(uid);
      if (placed === undefined) continue;
      this.#removed.set(uid, placed);
      state.removePod(uid);
    }
  }

  putBack(pods: readonly PodInfo[]): void {
    const { state } = this.#parts;
    for (const { uid } of pods) {
      const was = this.#removed.get(uid);
      if (was === undefined) continue;
      this.#removed.delete(uid);
      if (was.assumed) state.assume(was.pod, was.node);
      else state.setPod(was.pod);
    }
  }

  place(): ReadonlyMap<string, string> | undefined {
    const before = this.#trial;
    this.#release();
    const trial = tryNow(this.#parts, { members: this.#members, wanted: this.#wanted });
    if (trial.fault === undefined && trial.held.length >= this.#wanted) {
      this.#trial = trial;
      return new Map(trial.held.map(({ placement }) => [placement.queued.pod.uid, placement.node]));
    }
    unwind(this.#parts, trial);
    if (before !== undefined) this.#holdAgain(before);
    return undefined;
  }

  stillFits(changed: ReadonlySet<string>): boolean {
    const { state } = this.#parts;
    for (const { attempt, placement } of this.#trial?.held ?? []) {
      // Filters that read the cluster may look at any node.
      const readsNodeOnly = placement.filtered.prepared.every(({ kind }) => kind === "skip");
      if (readsNodeOnly && !changed.has(placement.node)) continue;
      const node = state.nodeNamed(placement.node);
      unreserve(this.#parts, placement);
      const names = new Set([placement.node]);
      const { count } = attempt.evaluator.filter(attempt.queued.pod, { within: { names, reason: "elsewhere" } });
      if (node !== undefined) holdAgain(this.#parts, placement, node);
      if (count === 0) return false;
    }
    return true;
  }

  /** Everything is as before. */
  end(): void {
    this.#release();
    this.putBack([...this.#removed.values()].map(({ pod }) => pod));
  }

  #holdAgain(trial: GroupTrial): void {
    for (const { placement } of trial.held) {
      const node = this.#parts.state.nodeNamed(placement.node);
      if (node !== undefined) holdAgain(this.#parts, placement, node);
    }
    this.#trial = trial;
  }

  #release(): void {
    if (this.#trial !== undefined) unwind(this.#parts, this.#trial);
    this.#trial = undefined;
  }
}
