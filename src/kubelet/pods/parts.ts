/** What running a Pod takes: the seams between the kubelet's core and everything that touches the world. */
import type { core } from "#api";
import type { Clock, Logger } from "#base";
import type { MountPaths, NodeFacts, VolumePath } from "../containers/index.ts";
import type { AnyContainer } from "../containers/names.ts";
import type { Image, PodSandboxConfig, Runtime } from "../runtime/runtime.ts";
import type { ProbeVerdict, ProbeVerdicts } from "./actions.ts";
import type { ResizeVerdict } from "./resize.ts";

/** Files of Pods on the node, outside of their volumes. */
export interface PodFiles {
  /** Writes it if it differs, and returns its path. */
  writeEtcHosts(pod: core.Pod, text: string): Promise<string>;
  /** The node's own /etc/hosts. */
  nodeHosts(): Promise<string>;
  /** Makes the directory of a Pod's logs. */
  makeLogDirectory(pod: core.Pod): Promise<void>;
  /** Makes an empty file that anyone may write to, and returns its path. */
  makeTerminationLog(pod: core.Pod, container: string, attempt: number): Promise<string>;
  /** The end of a file, at most so many bytes; empty where there is none. */
  tail(path: string, bytes: number): Promise<string>;
  removeLog(path: string): Promise<void>;
  /** Why the Pod has to go, for a kubelet after this one: written before anything of it is stopped. */
  writeEnding(uid: string, text: string): Promise<void>;
  readEnding(uid: string): Promise<string | undefined>;
  /** Everything of the Pod but its volumes and logs. */
  removePod(uid: string): Promise<void>;
  removeLogs(uid: string): Promise<void>;
  /** The uids of Pods that have files or logs here. */
  podUids(): Promise<readonly string[]>;
}

export interface PodVolumes {
  /** Makes all volumes of the Pod ready and brings their contents up to date. Throws VolumeError. */
  mount(pod: core.Pod, signal: AbortSignal): Promise<ReadonlyMap<string, VolumePath>>;
  /** A path inside a volume that stays inside, whatever links the volume holds. */
  subPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;
  /** What a file in a volume says, if there is one; links do not lead out of the volume. Throws VolumeError. */
  readFile(volume: VolumePath, path: string): Promise<string | undefined>;
  /** Also what a kubelet before this one has left. */
  unmount(uid: string, signal: AbortSignal): Promise<void>;
  /** The uids of Pods that have volumes here. */
  podUids(): Promise<readonly string[]>;
}

export interface SubPathRequest {
  readonly pod: core.Pod;
  readonly container: string;
  readonly volume: VolumePath;
  readonly volumeName: string;
  readonly mountIndex: number;
  readonly subPath: string;
  readonly readOnly: boolean;
}

export interface PodCgroups {
  ensure(pod: core.Pod): Promise<void>;
  remove(uid: string): Promise<void>;
  podUids(): Promise<readonly string[]>;
}

export interface ImagePuller {
  /** Throws StartError with the reason that the status tells. */
  ensure(request: PullRequest, signal: AbortSignal): Promise<Image>;
}

export interface PullRequest {
  readonly pod: core.Pod;
  readonly container: Pick<AnyContainer, "name" | "image" | "imagePullPolicy">;
  readonly sandbox: PodSandboxConfig;
}

export interface PodProbes {
  /** Probes what runs from now on, and nothing else. */
  watch(pod: core.Pod, running: readonly ProbedContainer[], podIp: string): void;
  verdicts(containerId: string): ProbeVerdicts;
  readiness(containerId: string): ProbeVerdict;
  /** Ends the probes of a Pod that is going: readiness of what still runs is told until the end, nothing is killed any more. */
  terminating(uid: string): void;
  forget(uid: string): void;
}

export interface ProbedContainer {
  readonly container: core.Container;
  readonly id: string;
  readonly startedAtMs: number;
}

export interface LifecycleHooks {
  /** Throws what went wrong. */
  run(request: HookRequest, signal: AbortSignal): Promise<void>;
}

export interface HookRequest {
  readonly handler: core.LifecycleHandler;
  readonly containerId: string;
  readonly container: Pick<core.Container, "name" | "ports">;
  readonly podIp: string;
}

/** Objects of the API that Pods refer to. */
export interface PodObjects {
  configMap(namespace: string, name: string): Promise<core.ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<core.Secret | undefined>;
  /** Of the namespace, and the API server's own. */
  services(namespace: string): readonly core.Service[];
  /** The handler of a RuntimeClass. Throws if there is no such class. */
  runtimeHandler(runtimeClass: string): Promise<string>;
}

/** Whether a Pod that asks for other resources fits beside the others. */
export type AdmitResize = (pod: core.Pod) => ResizeVerdict;

export interface PodEvents {
  record(pod: core.Pod, type: "Normal" | "Warning", reason: string, note: string): void;
}

export interface PodParts {
  readonly runtime: Runtime;
  /** As container ids begin: `containerd`. */
  readonly runtimeName: string;
  readonly facts: () => NodeFacts;
  readonly files: PodFiles;
  readonly volumes: PodVolumes;
  readonly cgroups: PodCgroups;
  readonly images: ImagePuller;
  readonly probes: PodProbes;
  readonly hooks: LifecycleHooks;
  readonly objects: PodObjects;
  readonly events: PodEvents;
  readonly admitResize: AdmitResize;
  readonly clock: Clock;
  readonly log: Logger;
}

export type { MountPaths };
