/** What the report of a cluster says, in the page's words. */
import type { ClusterReport, ReportedMember } from "../../server/cluster.ts";
import type { Tone } from "../model/pod.ts";

const DAY_MS = 24 * 3_600_000;
/** Kubernetes' tools warn so early. */
const SOON_DAYS = 30;

export interface VersionRow {
  readonly version: string;
  /** The parts that have it. */
  readonly of: readonly string[];
}

/** More than one row for the same kind of part is a skew. */
export function versionsOf({ version, nodes, storeMembers }: ClusterReport): readonly VersionRow[] {
  const found = new Map<string, string[]>();
  const add = (of: string, its: string) => {
    if (its !== "") found.set(its, [...(found.get(its) ?? []), of]);
  };
  add("API server, controllers, scheduler", version);
  const kubelets = Map.groupBy(nodes, (node) => node.version);
  for (const [its, all] of kubelets)
    add(all.length === 1 ? `kubelet of ${all[0]?.name}` : `${all.length} kubelets`, its);
  const members = Map.groupBy(storeMembers, (member) => member.version);
  for (const [its, all] of members) add(all.length === 1 ? "etcd" : `etcd, ${all.length} members`, its);
  return [...found].map(([its, of]) => ({ version: its, of }));
}

export function memberRole({ isLeader, isLearner }: ReportedMember): string {
  return isLeader ? "leader" : isLearner ? "learner" : "follower";
}

/** `apiserver-kubelet-client` is a file's name. */
export function certificateTitle(name: string): string {
  return name.replaceAll("-", " ");
}

export function certificateState(expires: string, now: number): { readonly tone: Tone; readonly words: string } {
  const days = Math.floor((Date.parse(expires) - now) / DAY_MS);
  if (days < 0) return { tone: "bad", words: "expired" };
  return { tone: days < SOON_DAYS ? "busy" : "good", words: days === 1 ? "1 day" : `${days} days` };
}
