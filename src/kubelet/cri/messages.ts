/** The part of CRI v1 that this kubelet uses. `#grpc` explains the tables. */

import { type Methods, methodsOf, type Received, type Sent } from "#grpc";
import { values } from "./value-messages.ts";

const sandboxes = {
  DNSConfig: { servers: [1, "string[]"], searches: [2, "string[]"], options: [3, "string[]"] },
  PortMapping: {
    protocol: [1, "int32"],
    containerPort: [2, "int32"],
    hostPort: [3, "int32"],
    hostIp: [4, "string"],
  },
  LinuxSandboxSecurityContext: {
    namespaceOptions: [1, "NamespaceOption"],
    selinuxOptions: [2, "SELinuxOption"],
    runAsUser: [3, "Int64Value"],
    readonlyRootfs: [4, "bool"],
    supplementalGroups: [5, "int64[]"],
    privileged: [6, "bool"],
    runAsGroup: [8, "Int64Value"],
    seccomp: [9, "SecurityProfile"],
    supplementalGroupsPolicy: [11, "int32"],
  },
  LinuxPodSandboxConfig: {
    cgroupParent: [1, "string"],
    securityContext: [2, "LinuxSandboxSecurityContext"],
    sysctls: [3, "map"],
    overhead: [4, "LinuxContainerResources"],
    resources: [5, "LinuxContainerResources"],
  },
  PodSandboxConfig: {
    metadata: [1, "PodSandboxMetadata"],
    hostname: [2, "string"],
    logDirectory: [3, "string"],
    dnsConfig: [4, "DNSConfig"],
    portMappings: [5, "PortMapping[]"],
    labels: [6, "map"],
    annotations: [7, "map"],
    linux: [8, "LinuxPodSandboxConfig"],
  },
  PodIP: { ip: [1, "string"] },
  PodSandboxNetworkStatus: { ip: [1, "string"], additionalIps: [2, "PodIP[]"] },
  /** `state`: 0 is ready. */
  PodSandboxStatus: {
    id: [1, "string"],
    metadata: [2, "PodSandboxMetadata"],
    state: [3, "int32"],
    createdAt: [4, "int64"],
    network: [5, "PodSandboxNetworkStatus"],
    labels: [7, "map"],
    annotations: [8, "map"],
    runtimeHandler: [9, "string"],
  },
  PodSandbox: {
    id: [1, "string"],
    metadata: [2, "PodSandboxMetadata"],
    state: [3, "int32"],
    createdAt: [4, "int64"],
    labels: [5, "map"],
    annotations: [6, "map"],
    runtimeHandler: [7, "string"],
  },
  RunPodSandboxRequest: { config: [1, "PodSandboxConfig"], runtimeHandler: [2, "string"] },
  RunPodSandboxResponse: { podSandboxId: [1, "string"] },
  PodSandboxRequest: { podSandboxId: [1, "string"] },
  PodSandboxStatusResponse: { status: [1, "PodSandboxStatus"] },
  PodSandboxFilter: { id: [1, "string"], labelSelector: [3, "map"] },
  ListPodSandboxRequest: { filter: [1, "PodSandboxFilter"] },
  ListPodSandboxResponse: { items: [1, "PodSandbox[]"] },
  PortForwardRequest: { podSandboxId: [1, "string"], port: [2, "int32[]"] },
} as const;

const containers = {
  Capability: { addCapabilities: [1, "string[]"], dropCapabilities: [2, "string[]"] },
  LinuxContainerSecurityContext: {
    capabilities: [1, "Capability"],
    privileged: [2, "bool"],
    namespaceOptions: [3, "NamespaceOption"],
    selinuxOptions: [4, "SELinuxOption"],
    runAsUser: [5, "Int64Value"],
    runAsUsername: [6, "string"],
    readonlyRootfs: [7, "bool"],
    supplementalGroups: [8, "int64[]"],
    noNewPrivs: [11, "bool"],
    runAsGroup: [12, "Int64Value"],
    maskedPaths: [13, "string[]"],
    readonlyPaths: [14, "string[]"],
    seccomp: [15, "SecurityProfile"],
    apparmor: [16, "SecurityProfile"],
    supplementalGroupsPolicy: [17, "int32"],
  },
  LinuxContainerConfig: {
    resources: [1, "LinuxContainerResources"],
    securityContext: [2, "LinuxContainerSecurityContext"],
  },
  ContainerConfig: {
    metadata: [1, "ContainerMetadata"],
    image: [2, "ImageSpec"],
    command: [3, "string[]"],
    args: [4, "string[]"],
    workingDir: [5, "string"],
    envs: [6, "KeyValue[]"],
    mounts: [7, "Mount[]"],
    devices: [8, "Device[]"],
    labels: [9, "map"],
    annotations: [10, "map"],
    logPath: [11, "string"],
    stdin: [12, "bool"],
    stdinOnce: [13, "bool"],
    tty: [14, "bool"],
    linux: [15, "LinuxContainerConfig"],
    cdiDevices: [17, "CDIDevice[]"],
  },
  /** `state` is one of CONTAINER_STATES. */
  Container: {
    id: [1, "string"],
    podSandboxId: [2, "string"],
    metadata: [3, "ContainerMetadata"],
    image: [4, "ImageSpec"],
    imageRef: [5, "string"],
    state: [6, "int32"],
    createdAt: [7, "int64"],
    labels: [8, "map"],
    annotations: [9, "map"],
  },
  LinuxContainerUser: { uid: [1, "int64"], gid: [2, "int64"], supplementalGroups: [3, "int64[]"] },
  ContainerUser: { linux: [1, "LinuxContainerUser"] },
  ContainerResources: { linux: [1, "LinuxContainerResources"] },
  ContainerStatus: {
    id: [1, "string"],
    metadata: [2, "ContainerMetadata"],
    state: [3, "int32"],
    createdAt: [4, "int64"],
    startedAt: [5, "int64"],
    finishedAt: [6, "int64"],
    exitCode: [7, "int32"],
    image: [8, "ImageSpec"],
    imageRef: [9, "string"],
    reason: [10, "string"],
    message: [11, "string"],
    labels: [12, "map"],
    annotations: [13, "map"],
    mounts: [14, "Mount[]"],
    logPath: [15, "string"],
    resources: [16, "ContainerResources"],
    user: [18, "ContainerUser"],
  },
  CreateContainerRequest: {
    podSandboxId: [1, "string"],
    config: [2, "ContainerConfig"],
    sandboxConfig: [3, "PodSandboxConfig"],
  },
  CreateContainerResponse: { containerId: [1, "string"] },
  ContainerRequest: { containerId: [1, "string"] },
  StopContainerRequest: { containerId: [1, "string"], timeout: [2, "int64"] },
  ContainerStatusResponse: { status: [1, "ContainerStatus"] },
  ContainerFilter: { id: [1, "string"], podSandboxId: [3, "string"], labelSelector: [4, "map"] },
  ListContainersRequest: { filter: [1, "ContainerFilter"] },
  ListContainersResponse: { containers: [1, "Container[]"] },
  UpdateContainerResourcesRequest: { containerId: [1, "string"], linux: [2, "LinuxContainerResources"] },
  ExecSyncRequest: { containerId: [1, "string"], cmd: [2, "string[]"], timeout: [3, "int64"] },
  ExecSyncResponse: { stdout: [1, "bytes"], stderr: [2, "bytes"], exitCode: [3, "int32"] },
  ExecRequest: {
    containerId: [1, "string"],
    cmd: [2, "string[]"],
    tty: [3, "bool"],
    stdin: [4, "bool"],
    stdout: [5, "bool"],
    stderr: [6, "bool"],
  },
  AttachRequest: {
    containerId: [1, "string"],
    stdin: [2, "bool"],
    tty: [3, "bool"],
    stdout: [4, "bool"],
    stderr: [5, "bool"],
  },
  CheckpointContainerRequest: { containerId: [1, "string"], location: [2, "string"], timeout: [3, "int64"] },
  StreamResponse: { url: [1, "string"] },
  /** `type` is one of EVENT_TYPES. */
  ContainerEventResponse: { containerId: [1, "string"], type: [2, "int32"], podSandboxStatus: [4, "PodSandboxStatus"] },
} as const;

const stats = {
  FilesystemIdentifier: { mountpoint: [1, "string"] },
  FilesystemUsage: {
    timestamp: [1, "int64"],
    fsId: [2, "FilesystemIdentifier"],
    usedBytes: [3, "UInt64Value"],
    inodesUsed: [4, "UInt64Value"],
  },
  CpuUsage: { timestamp: [1, "int64"], usageCoreNanoSeconds: [2, "UInt64Value"] },
  MemoryUsage: {
    timestamp: [1, "int64"],
    workingSetBytes: [2, "UInt64Value"],
    usageBytes: [4, "UInt64Value"],
    rssBytes: [5, "UInt64Value"],
  },
  ContainerAttributes: { id: [1, "string"], metadata: [2, "ContainerMetadata"], labels: [3, "map"] },
  ContainerStats: {
    attributes: [1, "ContainerAttributes"],
    cpu: [2, "CpuUsage"],
    memory: [3, "MemoryUsage"],
    writableLayer: [4, "FilesystemUsage"],
  },
  ContainerStatsFilter: { id: [1, "string"], podSandboxId: [2, "string"], labelSelector: [3, "map"] },
  ListContainerStatsRequest: { filter: [1, "ContainerStatsFilter"] },
  ListContainerStatsResponse: { stats: [1, "ContainerStats[]"] },
  ImageFsInfoResponse: { imageFilesystems: [1, "FilesystemUsage[]"] },
} as const;

const images = {
  Image: {
    id: [1, "string"],
    repoTags: [2, "string[]"],
    repoDigests: [3, "string[]"],
    size: [4, "uint64"],
    uid: [5, "Int64Value"],
    username: [6, "string"],
    pinned: [8, "bool"],
  },
  ImageFilter: { image: [1, "ImageSpec"] },
  ListImagesRequest: { filter: [1, "ImageFilter"] },
  ListImagesResponse: { images: [1, "Image[]"] },
  ImageRequest: { image: [1, "ImageSpec"], verbose: [2, "bool"] },
  ImageStatusResponse: { image: [1, "Image"], info: [2, "map"] },
  AuthConfig: {
    username: [1, "string"],
    password: [2, "string"],
    auth: [3, "string"],
    serverAddress: [4, "string"],
    identityToken: [5, "string"],
    registryToken: [6, "string"],
  },
  PullImageRequest: { image: [1, "ImageSpec"], auth: [2, "AuthConfig"], sandboxConfig: [3, "PodSandboxConfig"] },
  PullImageResponse: { imageRef: [1, "string"] },
} as const;

const runtime = {
  Nothing: {},
  VersionRequest: { version: [1, "string"] },
  VersionResponse: {
    version: [1, "string"],
    runtimeName: [2, "string"],
    runtimeVersion: [3, "string"],
    runtimeApiVersion: [4, "string"],
  },
  RuntimeCondition: { type: [1, "string"], status: [2, "bool"], reason: [3, "string"], message: [4, "string"] },
  RuntimeStatus: { conditions: [1, "RuntimeCondition[]"] },
  RuntimeHandlerFeatures: { recursiveReadOnlyMounts: [1, "bool"], userNamespaces: [2, "bool"] },
  RuntimeHandler: { name: [1, "string"], features: [2, "RuntimeHandlerFeatures"] },
  RuntimeFeatures: { supplementalGroupsPolicy: [1, "bool"] },
  StatusRequest: { verbose: [1, "bool"] },
  StatusResponse: {
    status: [1, "RuntimeStatus"],
    info: [2, "map"],
    runtimeHandlers: [3, "RuntimeHandler[]"],
    features: [4, "RuntimeFeatures"],
  },
} as const;

const messages = { ...values, ...sandboxes, ...containers, ...stats, ...images, ...runtime } as const;

const runtimeService = {
  Version: ["VersionRequest", "VersionResponse"],
  Status: ["StatusRequest", "StatusResponse"],
  RunPodSandbox: ["RunPodSandboxRequest", "RunPodSandboxResponse"],
  StopPodSandbox: ["PodSandboxRequest", "Nothing"],
  RemovePodSandbox: ["PodSandboxRequest", "Nothing"],
  PodSandboxStatus: ["PodSandboxRequest", "PodSandboxStatusResponse"],
  ListPodSandbox: ["ListPodSandboxRequest", "ListPodSandboxResponse"],
  PortForward: ["PortForwardRequest", "StreamResponse"],
  CreateContainer: ["CreateContainerRequest", "CreateContainerResponse"],
  StartContainer: ["ContainerRequest", "Nothing"],
  StopContainer: ["StopContainerRequest", "Nothing"],
  RemoveContainer: ["ContainerRequest", "Nothing"],
  ContainerStatus: ["ContainerRequest", "ContainerStatusResponse"],
  ListContainers: ["ListContainersRequest", "ListContainersResponse"],
  UpdateContainerResources: ["UpdateContainerResourcesRequest", "Nothing"],
  ReopenContainerLog: ["ContainerRequest", "Nothing"],
  ExecSync: ["ExecSyncRequest", "ExecSyncResponse"],
  Exec: ["ExecRequest", "StreamResponse"],
  Attach: ["AttachRequest", "StreamResponse"],
  ListContainerStats: ["ListContainerStatsRequest", "ListContainerStatsResponse"],
  CheckpointContainer: ["CheckpointContainerRequest", "Nothing"],
  GetContainerEvents: ["Nothing", "ContainerEventResponse"],
} as const;

const imageService = {
  ListImages: ["ListImagesRequest", "ListImagesResponse"],
  ImageStatus: ["ImageRequest", "ImageStatusResponse"],
  PullImage: ["PullImageRequest", "PullImageResponse"],
  RemoveImage: ["ImageRequest", "Nothing"],
  ImageFsInfo: ["Nothing", "ImageFsInfoResponse"],
} as const;

export type CriMessage<N extends keyof typeof messages> = Received<typeof messages, N>;
export type CriRequest<N extends keyof typeof messages> = Sent<typeof messages, N>;
export type RuntimeMethods = Methods<typeof messages, typeof runtimeService>;
export type ImageMethods = Methods<typeof messages, typeof imageService>;

export function runtimeMethods(): RuntimeMethods {
  return methodsOf("runtime.v1.RuntimeService", messages, runtimeService);
}

export function imageMethods(): ImageMethods {
  return methodsOf("runtime.v1.ImageService", messages, imageService);
}

/** CRI's enums: the index of a value is its number. */
export const NAMESPACE_MODES = ["POD", "CONTAINER", "NODE", "TARGET"] as const;
export const PROFILE_TYPES = ["RuntimeDefault", "Unconfined", "Localhost"] as const;
export const PROPAGATIONS = ["private", "hostToContainer", "bidirectional"] as const;
export const PROTOCOLS = ["TCP", "UDP", "SCTP"] as const;
export const CONTAINER_STATES = ["created", "running", "exited", "unknown"] as const;
export const EVENT_TYPES = ["created", "started", "stopped", "deleted"] as const;
