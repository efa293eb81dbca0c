/** What Pods use of their machine: files outside of their volumes, and cgroups. */
import type { core } from "#api";
import type { CgroupLimits } from "./cgroup-files.ts";

/** Files of Pods on the node, outside of their volumes. */
export interface PodFiles {
  /** Writes the file if it differs and returns its path. */
  writeEtcHosts(pod: core.Pod, text: string): Promise<string>;
  /** The node's own /etc/hosts. */
  nodeHosts(): Promise<string>;
  /** Creates the directory of a Pod's logs. */
  makeLogDirectory(pod: core.Pod): Promise<void>;
  /** Creates an empty, world-writable file and returns its path. */
  makeTerminationLog(pod: core.Pod, container: string, attempt: number): Promise<string>;
  /** The last bytes of a file; empty if there is none. */
  tail(path: string, bytes: number): Promise<string>;
  removeLog(path: string): Promise<void>;
  /** Why the node ends the Pod, for a restarted kubelet: written before anything is stopped. */
  writeEnding(uid: string, text: string): Promise<void>;
  readEnding(uid: string): Promise<string | undefined>;
  /** The ids of its user namespace. */
  writeUserNamespace(uid: string, text: string): Promise<void>;
  readUserNamespace(uid: string): Promise<string | undefined>;
  /** Everything of the Pod but its volumes and logs. */
  removePod(uid: string): Promise<void>;
  removeLogs(uid: string): Promise<void>;
  /** The uids of Pods that have files or logs here. */
  podUids(): Promise<readonly string[]>;
}

export interface PodCgroups {
  /** `hasExclusiveCpus`: a container of it has CPUs for itself, so that a quota would only slow it down. */
  ensure(pod: core.Pod, hasExclusiveCpus?: boolean): Promise<void>;
  remove(uid: string): Promise<void>;
  podUids(): Promise<readonly string[]>;
  /** The Pods that run now: what QoS classes share follows from them. */
  update(pods: readonly core.Pod[]): Promise<void>;
  /** Throws if a cgroup that has to be there is not. */
  enforce(limits: EnforcedLimits): Promise<void>;
}

export interface EnforcedLimits {
  /** Of all Pods together. Undefined: they are not limited. */
  readonly pods: CgroupLimits | undefined;
  /** Of cgroups that somebody else has made: those of the system and of Kubernetes. */
  readonly existing: readonly { readonly cgroup: string; readonly what: string; readonly limits: CgroupLimits }[];
}
