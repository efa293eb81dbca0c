/**
 * Which Pods a drain takes from a node, and which stand in its way: kubectl's rules. Pure.
 *
 * 1. Mirror Pods and, with the flag, Pods of DaemonSets stay. Pods that have finished are deleted.
 * 2. A Pod without a controller, or with local data, needs the flag that says so: nobody makes it anew.
 */
import type { core } from "#api";

export interface DrainFlags {
  readonly ignoreDaemonsets: boolean;
  readonly deleteEmptydirData: boolean;
  readonly force: boolean;
}

export interface DrainPlan {
  readonly evict: readonly core.Pod[];
  /** They stay, and why. */
  readonly ignored: readonly string[];
  /** Why nothing is done, as sentences. */
  readonly problems: readonly string[];
}

const MIRROR = "kubernetes.io/config.mirror";

/** `daemonSets`: those that exist, as `namespace/name`. */
export function planDrain(
  pods: readonly core.Pod[],
  daemonSets: ReadonlySet<string>,
  { ignoreDaemonsets, deleteEmptydirData, force }: DrainFlags,
): DrainPlan {
  const plan = { evict: [] as core.Pod[], ignored: [] as string[] };
  const found = { daemon: [] as string[], local: [] as string[], lone: [] as string[] };
  for (const pod of pods) {
    const { namespace = "", name = "", annotations = {} } = pod.metadata ?? {};
    const key = `${namespace}/${name}`;
    if (MIRROR in annotations) continue;
    const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    const isDone = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
    if (owner?.kind === "DaemonSet" && (daemonSets.has(`${namespace}/${owner.name}`) || !force)) {
      if (ignoreDaemonsets) plan.ignored.push(key);
      else found.daemon.push(key);
      continue;
    }
    if (!isDone) {
      if (owner === undefined && !force) found.lone.push(key);
      const hasLocal = pod.spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true;
      if (hasLocal && !deleteEmptydirData) found.local.push(key);
    }
    plan.evict.push(pod);
  }
  const sentence = (names: readonly string[], what: string, flag: string) =>
    names.length === 0 ? [] : [`cannot delete ${what} (use ${flag} to override): ${names.join(", ")}.`];
  return {
    ...plan,
    problems: [
      ...sentence(found.daemon, "DaemonSet-managed Pods", "--ignore-daemonsets"),
      ...sentence(found.local, "Pods with local storage", "--delete-emptydir-data"),
      ...sentence(found.lone, "Pods that declare no controller", "--force"),
    ],
  };
}
