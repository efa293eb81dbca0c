/**
 * The container runtime of a kubelet: the verbs of CRI v1 with plain values, implemented over gRPC and in memory.
 *
 * 1. Every verb takes an AbortSignal, and throws RuntimeError if it fails.
 * 2. stop and remove are idempotent: they succeed if the object is gone.
 * 3. Times are milliseconds since the epoch, 0 if something has not happened yet.
 */
import type { ImageMounts, ReceivedContent } from "./image-content.ts";

export type { ImageMount, ImageMounts, ReceivedContent } from "./image-content.ts";

import type { ContainerConfig, LinuxResources, Mount, PodSandboxConfig, PodSandboxMetadata } from "./configs.ts";

export type * from "./configs.ts";

export type RuntimeErrorCode = "NotFound" | "Unavailable" | "DeadlineExceeded" | "AlreadyExists" | "Unknown";

export class RuntimeError extends Error {
  readonly code: RuntimeErrorCode;
  constructor(code: RuntimeErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RuntimeError";
    this.code = code;
  }
}

export interface Runtime {
  version(signal?: AbortSignal): Promise<RuntimeVersion>;
  status(signal?: AbortSignal): Promise<RuntimeStatus>;

  runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, signal?: AbortSignal): Promise<string>;
  stopPodSandbox(id: string, signal?: AbortSignal): Promise<void>;
  removePodSandbox(id: string, signal?: AbortSignal): Promise<void>;
  /** Undefined if there is none. */
  podSandboxStatus(id: string, signal?: AbortSignal): Promise<PodSandboxStatus | undefined>;
  listPodSandboxes(filter?: RuntimeFilter, signal?: AbortSignal): Promise<readonly PodSandbox[]>;

  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandbox: PodSandboxConfig,
    signal?: AbortSignal,
  ): Promise<string>;
  startContainer(id: string, signal?: AbortSignal): Promise<void>;
  /** SIGTERM (or the image's stop signal), then SIGKILL after `graceSeconds`. Resolves when it has exited. */
  stopContainer(id: string, graceSeconds: number, signal?: AbortSignal): Promise<void>;
  removeContainer(id: string, signal?: AbortSignal): Promise<void>;
  containerStatus(id: string, signal?: AbortSignal): Promise<ContainerStatus | undefined>;
  listContainers(filter?: RuntimeFilter, signal?: AbortSignal): Promise<readonly Container[]>;
  updateContainerResources(id: string, resources: LinuxResources, signal?: AbortSignal): Promise<void>;
  reopenContainerLog(id: string, signal?: AbortSignal): Promise<void>;

  /** Writes the state of a running container into a file. 0 seconds: as long as the runtime allows. */
  checkpointContainer(id: string, location: string, timeoutSeconds: number, signal?: AbortSignal): Promise<void>;

  execSync(id: string, command: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<ExecResult>;
  /** The URL at which the runtime serves the stream, once. */
  exec(request: ExecRequest, signal?: AbortSignal): Promise<string>;
  attach(request: AttachRequest, signal?: AbortSignal): Promise<string>;
  portForward(sandboxId: string, ports: readonly number[], signal?: AbortSignal): Promise<string>;

  listContainerStats(filter?: RuntimeFilter, signal?: AbortSignal): Promise<readonly ContainerStats[]>;
  /** Events of containers and sandboxes, until the signal aborts; throws when the runtime goes away. */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;

  readonly images: ImageService;
  close(): Promise<void>;
}

export interface ImageService {
  list(signal?: AbortSignal): Promise<readonly Image[]>;
  status(image: string, signal?: AbortSignal): Promise<Image | undefined>;
  /** Resolves to the reference of the image. */
  pull(image: string, options: PullOptions, signal?: AbortSignal): Promise<string>;
  remove(image: string, signal?: AbortSignal): Promise<void>;
  filesystemUsage(signal?: AbortSignal): Promise<readonly FilesystemUsage[]>;
  /** The layers that are being received. Absent: the runtime does not tell. */
  receiving?(signal?: AbortSignal): Promise<readonly ReceivedContent[]>;
  /** Images as volumes. Absent: the runtime does not offer them. */
  readonly mounts?: ImageMounts | undefined;
}

export interface PullOptions {
  readonly auth?: ImageAuth | undefined;
  readonly sandbox?: PodSandboxConfig | undefined;
}

export interface ImageAuth {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly serverAddress?: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
}

export interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
  /** The user of the image: a number or a name. */
  readonly uid?: number | undefined;
  readonly username?: string | undefined;
  readonly pinned?: boolean | undefined;
}

export interface FilesystemUsage {
  readonly mountpoint: string;
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

export interface RuntimeVersion {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
}

export interface RuntimeStatus {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: boolean;
    readonly reason: string;
    readonly message: string;
  }[];
  readonly handlers?: readonly RuntimeHandler[] | undefined;
  readonly features?: RuntimeFeatures | undefined;
}

/** What a handler of the runtime offers. Undefined: it does not say. */
export interface RuntimeHandler {
  /** Empty: the default one. */
  readonly name: string;
  readonly recursiveReadOnlyMounts?: boolean | undefined;
  readonly userNamespaces?: boolean | undefined;
}

export interface RuntimeFeatures {
  /** Groups of a container are only those that it asks for, if it wants. */
  readonly supplementalGroupsPolicy: boolean;
}

export interface RuntimeFilter {
  readonly id?: string | undefined;
  readonly podSandboxId?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export interface PodSandbox {
  readonly id: string;
  readonly metadata: PodSandboxMetadata;
  readonly state: "ready" | "notReady";
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}

export interface PodSandboxStatus extends PodSandbox {
  /** The first one is the Pod's address. Empty on the host network. */
  readonly ips: readonly string[];
}

export type ContainerState = "created" | "running" | "exited" | "unknown";

export interface Container {
  readonly id: string;
  readonly podSandboxId: string;
  readonly metadata: { readonly name: string; readonly attempt: number };
  readonly image: string;
  readonly imageRef: string;
  readonly state: ContainerState;
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ContainerStatus extends Container {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly exitCode: number;
  /** `Completed`, `Error`, `OOMKilled`, `ContainerCannotRun`, … */
  readonly reason: string;
  readonly message: string;
  readonly mounts: readonly Mount[];
  readonly logPath: string;
  readonly resources?: LinuxResources;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
}

export interface ExecResult {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitCode: number;
}

export interface ExecRequest {
  readonly containerId: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface AttachRequest {
  readonly containerId: string;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ContainerStats {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly timestampMs: number;
  readonly cpuCoreNanoSeconds: number;
  readonly memoryWorkingSetBytes: number;
  readonly memoryUsageBytes: number;
  readonly memoryRssBytes: number;
  readonly writableLayerBytes: number;
  readonly writableLayerInodes: number;
}

export interface RuntimeEvent {
  readonly type: "created" | "started" | "stopped" | "deleted";
  readonly containerId: string;
  /** Undefined if the runtime does not report it. */
  readonly podSandboxId?: string | undefined;
}
