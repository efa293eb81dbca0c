/** What controllers promise about the Pods of their objects. */
import type { batch, core, KubeObject } from "#api";
import type { Commit } from "../history.ts";
import { isEnding, isOver, nameOf, type World } from "../world.ts";
import type { Broken, Invariant } from "./invariant.ts";

export const oneOfEach: Invariant = {
  name: "one-of-each",
  words: "of each ordinal of a StatefulSet at most one Pod runs",
  begin: ({ cluster }) => ({
    always() {
      const seen = new Map<string, string>();
      for (const { metadata } of cluster.components?.fleet?.runningPods() ?? []) {
        if (!metadata.ownerReferences?.some(({ kind }) => kind === "StatefulSet")) continue;
        const key = `${metadata.namespace}/${metadata.name}`;
        const other = seen.get(key);
        if (other !== undefined && other !== metadata.uid)
          return { says: `two Pods ${key} run at the same time`, about: `Pod ${key}` };
        seen.set(key, metadata.uid ?? "");
      }
      return undefined;
    },
  }),
};

/** What was wanted may be wanted by caches for so long. */
const RECENT_MS = 120_000;

export const noSurplus: Invariant = {
  name: "no-surplus",
  words: "no controller makes more Pods than its object wants; while nothing is lost and nobody dies",
  begin({ world, isGentle }) {
    const wanted = new Map<string, { readonly count: number; readonly untilMs: number }[]>();
    const note = ({ object, previous, atMs }: Commit) => {
      const count = wantedBy(object ?? previous);
      const uid = (object ?? previous)?.metadata.uid;
      if (count === undefined || uid === undefined) return;
      const before = wantedBy(previous);
      const all = (wanted.get(uid) ?? []).filter(({ untilMs }) => untilMs > atMs);
      if (before !== undefined) all.push({ count: before, untilMs: atMs + RECENT_MS });
      wanted.set(uid, all);
    };
    return {
      committed(commit) {
        if (!isGentle) return undefined;
        note(commit);
        const { object, previous, atMs } = commit;
        if (object?.kind !== "Pod" || previous !== undefined) return undefined;
        const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
        const controller = owner && world.withUid(owner.uid);
        const now = wantedBy(controller);
        if (controller === undefined || now === undefined) return undefined;
        const recent = (wanted.get(owner?.uid ?? "") ?? []).filter(({ untilMs }) => untilMs > atMs);
        const most = Math.max(now, ...recent.map(({ count }) => count));
        const active = world.podsOf(controller).filter((pod) => !isEnding(pod) && !isOver(pod));
        if (active.length <= most) return undefined;
        return {
          says: `${nameOf(controller)} has ${active.length} Pods, and wants ${most}`,
          about: nameOf(controller),
        };
      },
    };
  },
};

function wantedBy(object: KubeObject | undefined): number | undefined {
  if (object?.kind === "ReplicaSet") return (object as { spec?: { replicas?: number } }).spec?.replicas ?? 1;
  if (object?.kind !== "Job") return undefined;
  const { parallelism = 1 } = (object as batch.Job).spec ?? {};
  return parallelism;
}

export const workDone: Invariant = {
  name: "work-done",
  words: "a Job that is complete has had as many Pods of its own that succeeded as it wants",
  begin({ world }) {
    const succeeded = new Map<string, Set<string>>();
    return {
      committed({ object }) {
        if (object?.kind !== "Pod" || (object as core.Pod).status?.phase !== "Succeeded") return undefined;
        for (const { uid } of object.metadata.ownerReferences ?? []) {
          const known = succeeded.get(uid) ?? new Set<string>();
          succeeded.set(uid, known.add(object.metadata.uid ?? ""));
        }
        return undefined;
      },
      missing() {
        for (const job of world.of("Job")) {
          const { completions = 1 } = job.spec ?? {};
          const isComplete = job.status?.conditions?.some(
            ({ type, status }) => type === "Complete" && status === "True",
          );
          const count = succeeded.get(job.metadata.uid ?? "")?.size ?? 0;
          if (isComplete === true && count < completions)
            return {
              says: `${nameOf(job)} is complete, but only ${count} of its Pods have succeeded`,
              about: nameOf(job),
            };
        }
        return undefined;
      },
    };
  },
};

export const fits: Invariant = {
  name: "fits",
  words: "no Pod is bound to a node that is full; while nothing is lost and nobody dies",
  begin: ({ world, isGentle }) => ({
    committed({ object, previous }) {
      const pod = object as core.Pod | undefined;
      const node = pod?.spec?.nodeName;
      if (
        !isGentle ||
        pod?.kind !== "Pod" ||
        node === undefined ||
        (previous as core.Pod | undefined)?.spec?.nodeName === node
      )
        return undefined;
      return overfull(world, node);
    },
  }),
};

function overfull(world: World, name: string): Broken | undefined {
  const node = world.of("Node").find(({ metadata }) => metadata.name === name);
  const room = millis(node?.status?.allocatable?.cpu ?? "0");
  let used = 0;
  for (const pod of world.of("Pod"))
    if (pod.spec?.nodeName === name && !isOver(pod))
      for (const { resources } of pod.spec.containers) used += millis(String(resources?.requests?.cpu ?? "0"));
  if (used <= room) return undefined;
  return { says: `Node ${name} has room for ${room}m of CPU, and Pods of ${used}m`, about: `Node ${name}` };
}

function millis(quantity: string): number {
  return quantity.endsWith("m") ? Number(quantity.slice(0, -1)) : Number(quantity) * 1000;
}
